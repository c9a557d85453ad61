"""From text to a rule table at growing sizes: CPU time, memory, disk and rules of each step.

    python bench/scale.py text WORK RAW --pairs 1000000
    python bench/scale.py run WORK --pairs 10000 30000 100000 --memory 4G --json bench/results/scale.json
    python bench/scale.py plot bench/results/scale.json bench/scale.svg
    python bench/scale.py lm WORK --pairs 1000000 --memory 100M 4G --json bench/results/lm-memory.json
    python bench/scale.py lm-cost WORK --json bench/results/lm-cost.json

`text` makes German-English text of any size. RAW has `train.de.xz` and `train.en.xz`. Their pairs come again and
again with other words: a word and its translation give way to a linked pair of the same frequency. Numbers
give way to other numbers. Of the words that occur once, every second one gets a new form in each round. So the words,
the lengths and the number of rare words are those of real text, and rules are new. What sentences say is not.

`run` aligns the first pairs of `train.de` and `train.en` in WORK and trains `hiero`, each as a command of its own.
`lm` trains a 5-gram model of the target side within each memory, and compares the files. `lm-cost` trains and
compiles one for each size.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from hashlib import sha256
from itertools import islice
from pathlib import Path

from plot import plot
from record import add_option, column, record

from treeglot.base.files import iterate_lines, read_json, write_binary, write_json
from treeglot.rules import open_table
from treeglot.syntax import Alignment
from treeglot.text.languages import find_language
from treeglot.text.words import tokenise_icu

SIDES = ("de", "en")
FREQUENT = 1000  # a word that is one in so many, or more, stays
TICKS = os.sysconf("SC_CLK_TCK")
NUMBER = re.compile(r"[0-9]{2,}")


def tokenised(raw, out):
    """The words of all pairs of a folder, in an order of its own, as two files."""
    lines = [list(iterate_lines(raw / f"train.{side}.xz")) for side in SIDES]
    sides = [tokenise_icu(text, find_language(side)) for text, side in zip(lines, SIDES, strict=True)]
    pairs = [(source.words, target.words) for source, target in zip(*sides, strict=True)]
    random.Random(1).shuffle(pairs)
    for side, name in enumerate(SIDES):
        with write_binary(out / f"base.{name}") as stream:
            stream.writelines((" ".join(pair[side]) + "\n").encode() for pair in pairs)


def places(source, target, links):
    """Where other words can stand: words within the sentence that have each other as their only link."""
    sources, targets = Counter(i for i, _ in links), Counter(j for _, j in links)
    for i, j in links:
        if i and j and sources[i] == targets[j] == 1 and source[i].isalpha() and target[j].isalpha():
            yield i, j


def kind(pair, counts):
    """Whether a German word has a capital, as nouns and names have, and the class of the pair's frequency."""
    return pair[0][0].isupper(), pair[1][0].isupper(), counts[pair].bit_length()


def varied(base):
    """Endless pairs with other words, the same ones every time."""
    words = Counter(word for source, _, _ in base for word in source)
    most = sum(words.values()) / FREQUENT
    spots, counts = [], Counter()
    for source, target, links in base:
        found = [(i, j) for i, j in places(source, target, links) if words[source[i]] < most]
        spots.append(found)
        counts.update((source[i], target[j]) for i, j in found)
    choices = {}
    for pair in counts:
        choices.setdefault(kind(pair, counts), []).append(pair)
    draw, round_ = random.Random(1).random, 0
    while True:
        for (source, target, _), found in zip(base, spots, strict=True):
            source, target = list(source), list(target)
            for i, j in found:
                pair = source[i], target[j]
                others = choices[kind(pair, counts)]
                new = others[int(draw() * len(others))]
                if counts[pair] == 1 and round_ and draw() < 0.5:
                    new = tuple(f"{word}~{round_}" for word in pair)
                source[i], target[j] = new
            numbers = [word for word in set(source) & set(target) if NUMBER.fullmatch(word)]
            for number in sorted(numbers):
                new = "".join("123456789"[int(draw() * 9)] for _ in number)
                source = [new if word == number else word for word in source]
                target = [new if word == number else word for word in target]
            yield source, target
        round_ += 1


def make_text(given):
    given.work.mkdir(parents=True, exist_ok=True)
    tokenised(given.raw, given.work)
    names = [str(given.work / f"base.{name}") for name in (*SIDES, "align")]
    subprocess.run([sys.executable, "-m", "treeglot", "align", *names[:2], "-o", names[2], "-q"], check=True)
    files = zip(*map(iterate_lines, names), strict=True)
    base = [(source.split(), target.split(), list(Alignment.parse(links))) for source, target, links in files]
    with write_binary(given.work / "train.de") as one, write_binary(given.work / "train.en") as other:
        for source, target in islice(varied(base), given.pairs):
            one.write((" ".join(source).lower() + "\n").encode())
            other.write((" ".join(target).lower() + "\n").encode())
    print(f"{given.pairs:,} pairs from {len(base):,}")


def family(process):
    """A process and those that it started, as far as they are alive."""
    found = [process]
    for one in found:
        try:
            tasks = Path(f"/proc/{one}/task").iterdir()
            found += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except (OSError, ValueError):
            continue
    return found


def usage(process):
    """CPU seconds so far and bytes of memory now, of a process and those that it started."""
    seconds = memory = 0
    for one in family(process):
        try:
            stat = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seconds += sum(map(int, stat[11:15])) / TICKS
        memory += int(stat[21]) * os.sysconf("SC_PAGE_SIZE")
    return seconds, memory


def disk(folder):
    """Bytes that the files below a folder take."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(place, name).stat().st_blocks * 512
            except OSError:
                continue
    return total


def watch(process, folder, ended, peaks):
    """Keep the peaks of a process's memory and of a folder's disk until it has ended."""
    while not ended.wait(0.5):
        peaks["memory"] = max(peaks["memory"], usage(process)[1])
        peaks["disk"] = max(peaks["disk"], disk(folder))


def measured(name, words, folder):
    """What a command takes: CPU time, also by each line that it prints, and peaks of memory and disk.

    The figures are kept in the folder: a run that was ended continues with the first command that it has none of.
    """
    kept = folder / f"{name}.json"
    if kept.exists():
        return read_json(kept)
    peaks, lines, started = {"memory": 0, "disk": 0}, [], time.monotonic()
    with subprocess.Popen([sys.executable, "-m", "treeglot", *words], stderr=subprocess.PIPE, text=True) as process:
        ended = threading.Event()
        watching = threading.Thread(target=watch, args=(process.pid, folder, ended, peaks))
        watching.start()
        for line in process.stderr:
            lines.append((line.rstrip("\n"), usage(process.pid)[0]))
            print(f"  {lines[-1][1]:8.1f} CPU s  {line}", end="", flush=True)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watching.join()
    if process.returncode:
        sys.exit(f"{words}: ended with {process.returncode}")
    took = {"cpu": used.ru_utime + used.ru_stime, "wall": time.monotonic() - started, "lines": lines, **peaks}
    took["memory"] = max(took["memory"], used.ru_maxrss * 1024)
    write_json(kept, took)
    return took


def until(took, text):
    """CPU seconds until a command printed a line with that text."""
    return next(seconds for line, seconds in took["lines"] if text in line)


def head(source, target, lines):
    with source.open("rb") as stream, write_binary(target) as out:
        out.writelines(islice(stream, lines))


def opening(path, wait):
    """The rules of a table, and the CPU seconds to open it: as models do, or with `wait` after a check of all."""
    start = time.process_time()
    rules = len(open_table(path, wait=wait))
    return rules, time.process_time() - start


def measure(given, pairs):
    folder = given.work / f"{pairs}"
    folder.mkdir(exist_ok=True)
    names = [folder / f"train.{side}" for side in given.sides]
    links, model = folder / "train.align", folder / "model"
    for name in names:
        head(given.work / name.name, name, pairs)
    limits = ["--threads", str(given.threads)]
    aligned = measured("align", ["align", *map(str, names), "-o", str(links), *limits], folder)
    files = ["--source", str(names[0]), "--target", str(names[1]), "--alignments", str(links)]
    more = ["--memory", given.memory, *given.train]
    trained = measured("train", ["train", "hiero", *files, "-o", str(model), *limits, *more], folder)
    facts = read_json(model / "extraction.json")
    opened = [opening(model / "rules.table", wait) for wait in (True, False)]
    extracted, made = until(trained, "rules extracted"), until(trained, "rule table compiled")
    row = [
        pairs,
        (facts["counts"]["flat"] + facts["counts"]["gappy"]) / 1e6,
        facts["rows"] / 1e6,
        opened[0][0] / 1e6,
        aligned["cpu"],
        extracted,
        made - extracted,
        trained["cpu"] - made,
        (aligned["cpu"] + trained["cpu"]) / pairs * 1000,
        max(aligned["memory"], trained["memory"]) / 1e9,
        max(aligned["disk"], trained["disk"]) / 1e9,
        (model / "rules.table").stat().st_size / 1e9,
        *(seconds for _, seconds in opened),
        (aligned["wall"] + trained["wall"]) / 60,
    ]
    print(row, f"align {aligned['memory'] / 1e9:.2f} GB, train {trained['memory'] / 1e9:.2f} GB", flush=True)
    if not given.keep:
        shutil.rmtree(folder)
    return row


def measure_lm(given):
    [pairs] = given.pairs
    rows, digests = [], []
    for memory in given.memory:
        folder = given.work / f"lm-{pairs}-{memory}"
        folder.mkdir(exist_ok=True)
        head(given.work / f"train.{given.sides[1]}", folder / "text", pairs)
        words = ["lm", "train", str(folder / "text"), "-o", str(folder / "lm.arpa"), "--memory", memory]
        took = measured("lm", [*words, "--scratch", str(folder)], folder)
        content = (folder / "lm.arpa").read_bytes()
        digests.append(sha256(content).hexdigest())
        same = "yes" if digests[-1] == digests[0] else "no"
        rows.append([pairs, memory, took["cpu"], took["memory"] / 1e6, len(content) / 1e6, same])
        print(rows[-1], flush=True)
        if not given.keep:
            shutil.rmtree(folder)
    return rows


def measure_lm_cost(given, pairs):
    folder = given.work / f"lm-cost-{pairs}"
    folder.mkdir(exist_ok=True)
    text, arpa, model = (folder / name for name in ("text", "lm.arpa", "lm.bin"))
    head(given.work / f"train.{given.sides[1]}", text, pairs)
    words = sum(len(line.split()) for line in iterate_lines(text))
    trained = measured("train", ["lm", "train", str(text), "-o", str(arpa)], folder)
    compiled = measured("compile", ["lm", "compile", str(arpa), "-o", str(model)], folder)
    memory = max(trained["memory"], compiled["memory"]) / 1e6
    sizes = [path.stat().st_size / 1e6 for path in (arpa, model)]
    row = [pairs, words, trained["cpu"], compiled["cpu"], memory, *sizes]
    print(row, flush=True)
    if not given.keep:
        shutil.rmtree(folder)
    return row


LM_COST_COLUMNS = [
    column("sentences"),
    column("words"),
    column("train, CPU s", 2),
    column("compile, CPU s", 2),
    column("peak memory, MB"),
    column("ARPA file, MB"),
    column("compiled file, MB"),
]

LM_COLUMNS = [
    column("sentences"),
    column("--memory"),
    column("CPU s", 1),
    column("peak memory, MB"),
    column("ARPA file, MB"),
    column("the same bytes"),
]

COLUMNS = [
    column("pairs"),
    column("rules taken, M", 1),
    column("different, M", 1),
    column("in the table, M", 1),
    column("align, CPU s"),
    column("extract, CPU s"),
    column("score and compile, CPU s"),
    column("language model, CPU s"),
    column("CPU ms a pair", 2),
    column("peak memory, GB", 2),
    column("peak disk, GB", 1),
    column("table, GB", 2),
    column("opened and verified, CPU s", 2),
    column("opened, CPU s", 3),
    column("minutes", 1),
]


def plot_time(figures):
    """CPU seconds by pairs, for each step and in all."""
    names = [one["name"] for one in figures["columns"]]
    steps = [number for number, name in enumerate(names) if name.endswith(", CPU s") and not name.startswith("opened")]
    series = {"all": [(row[0], sum(row[step] for step in steps)) for row in figures["rows"]]}
    named = {names[step].removesuffix(", CPU s"): step for step in steps}
    series |= {name: [(row[0], row[step]) for row in figures["rows"]] for name, step in named.items()}
    return plot(series, "pairs", "CPU seconds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(required=True)
    text = tasks.add_parser("text")
    text.add_argument("work", type=Path)
    text.add_argument("raw", type=Path)
    text.add_argument("--pairs", type=int, default=1_000_000)
    text.set_defaults(task=make_text)
    run = tasks.add_parser("run")
    run.add_argument("work", type=Path)
    run.add_argument("--pairs", type=int, nargs="+", default=[10_000])
    run.add_argument("--sides", nargs=2, default=SIDES)
    run.add_argument("--memory", default="4G")
    run.add_argument("--threads", type=int, default=1)
    run.add_argument("--train", nargs=argparse.REMAINDER, default=[], help="more options of treeglot train")
    run.add_argument("--keep", action="store_true", help="keep the models")
    add_option(run)
    run.set_defaults(task=lambda given: record(given.json, COLUMNS, [measure(given, n) for n in given.pairs]))
    drawn = tasks.add_parser("plot")
    drawn.add_argument("figures", type=Path)
    drawn.add_argument("svg", type=Path)
    drawn.set_defaults(task=lambda given: given.svg.write_text(plot_time(read_json(given.figures))))
    lm = tasks.add_parser("lm")
    lm.add_argument("work", type=Path)
    lm.add_argument("--pairs", type=int, nargs=1, default=[1_000_000])
    lm.add_argument("--sides", nargs=2, default=SIDES)
    lm.add_argument("--memory", nargs="+", default=["100M", "4G"])
    lm.add_argument("--keep", action="store_true", help="keep the models")
    add_option(lm)
    lm.set_defaults(task=lambda given: record(given.json, LM_COLUMNS, measure_lm(given)))
    cost = tasks.add_parser("lm-cost")
    cost.add_argument("work", type=Path)
    cost.add_argument("--pairs", type=int, nargs="+", default=[30_000, 300_000, 1_000_000])
    cost.add_argument("--sides", nargs=2, default=SIDES)
    cost.add_argument("--keep", action="store_true", help="keep the models")
    add_option(cost)
    cost.set_defaults(task=lambda n: record(n.json, LM_COST_COLUMNS, [measure_lm_cost(n, pairs) for pairs in n.pairs]))
    given = parser.parse_args()
    given.task(given)


if __name__ == "__main__":
    main()
