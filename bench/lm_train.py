"""Training n-gram models: CPU time and peak memory, beside lmplz if there is one.

python bench/lm_train.py TEXT [--order 5] [--tokens 12000000] [--memory 64M 256M 2G] [--lmplz PATH]

Every run is a process of its own, which writes the ARPA file; its CPU time and peak memory are those of the whole
process, Python's start among them (given for itself as well). With --tokens the text is first grown to so many words:
each is drawn from what follows the word before it somewhere in TEXT, so that n-grams are as often new as in real text.
With --trees, dependency models are trained from a file of bracketed English trees too; reading them is not timed.
"""

import argparse
import multiprocessing
import os
import shlex
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

CODE = "import sys; from treeglot.lm import train; train(sys.argv[1], int(sys.argv[2]), out=sys.argv[3], {})"


def run(command: list[str]) -> tuple[float, float, float]:
    """CPU seconds, seconds and peak MB of a process."""
    begin = time.monotonic()
    with open(os.devnull, "w") as quiet:  # noqa: PTH123
        actions = [(os.POSIX_SPAWN_DUP2, quiet.fileno(), 2)]
        process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    if status:
        sys.exit(f"failed: {shlex.join(command)}")
    peak = usage.ru_maxrss / 1024
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, peak


def grow(text: Path, tokens: int, out: Path) -> None:
    """Sentences of a first-order chain over the words of `text`."""
    draw = np.random.default_rng(1)
    numbers = {"<s>": 0, "</s>": 1}
    words = [
        numbers.setdefault(word, len(numbers))
        for line in text.read_text().splitlines()
        for word in ("<s>", *line.split(), "</s>")
    ]
    sequence = np.array(words)
    order = np.argsort(sequence, kind="stable")
    count = np.bincount(sequence)
    first = np.cumsum(count) - count
    spelled = np.array(list(numbers))
    made = 0
    with out.open("w") as stream:
        while made < tokens:
            position = order[first[0] + draw.integers(count[0], size=100_000)]
            sentences: list[list[str]] = [[] for _ in position]
            going = np.arange(len(position))
            while going.size:
                following = sequence[position + 1]
                ended = following == 1
                going, following = going[~ended], following[~ended]
                for sentence, word in zip(going, spelled[following], strict=True):
                    sentences[sentence].append(word)
                made += going.size
                position = order[first[following] + (draw.random(going.size) * count[following]).astype(int)]
            stream.writelines(" ".join(sentence) + "\n" for sentence in sentences)
    print(f"grown to {made:,} words")


def time_dependencies(trees: Path) -> None:
    from treeglot.lm import train_dependency
    from treeglot.lm.train import DiscountWarning
    from treeglot.syntax import heads
    from treeglot.syntax.constituents import to_dependencies
    from treeglot.syntax.formats import read_trees

    dependencies = list(
        to_dependencies([tree for tree in read_trees(trees) if tree is not None], heads.load("english"))
    )
    warnings.simplefilter("ignore", DiscountWarning)
    for unit in ("words", "tags"):
        begin = time.process_time()
        training = train_dependency(dependencies, unit)
        cpu = time.process_time() - begin
        sizes = ", ".join(str(model.log10_probability(model.order).size) for model in (training.left, training.right))
        print(f"dependencies, {unit}: {sum(training.events):,} events, {cpu:.2f} CPU s; left, right windows {sizes}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=0, help="grow the text to so many words")
    parser.add_argument("--memory", nargs="*", default=["2G"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lmplz", help="lmplz to compare with; it gets --memory of 2G")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trees", type=Path, help="bracketed English trees")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        text, out = options.text, str(Path(folder) / "x.arpa")
        if options.tokens:
            text = Path(folder) / "text"
            # In a process of its own: one that is started counts the peak of the one that starts it as its own.
            grower = multiprocessing.Process(target=grow, args=(options.text, options.tokens, text))
            grower.start()
            grower.join()
        runs = {"python -c 'import treeglot.lm'": [sys.executable, "-c", "import treeglot.lm"]}
        for memory in options.memory:
            code = CODE.format(f"memory={memory!r}, threads={options.threads}")
            runs[f"train, memory {memory}"] = [sys.executable, "-c", code, str(text), str(options.order), out]
        if options.lmplz:
            arguments = ["-o", str(options.order), "-S", "2G", "-T", folder, "--text", str(text), "--arpa", out]
            runs["lmplz -S 2G"] = [options.lmplz, *arguments]
        for name, command in runs.items():
            cpu, wall, peak = min(run(command) for _ in range(options.repeat))
            print(f"{name}: {cpu:.2f} CPU s, {wall:.2f} s, {peak:.0f} MB")
    if options.trees:
        time_dependencies(options.trees)


if __name__ == "__main__":
    main()
