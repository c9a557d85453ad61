"""The sample treebank: how long it takes to make, and what it is like."""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from treeglot.sample import forests, read_pairs, split, write_corpus
from treeglot.sample.corpus import SamplePair


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.process_time()
    yield
    print(f"{what:<28}{time.process_time() - start:8.2f} s CPU")


def text(pair: SamplePair) -> tuple[list[str], list[str]]:
    return pair.source, pair.target


def describe(name: str, sentences: list[list[str]], linked: int) -> None:
    lengths = [len(words) for words in sentences]
    forms = len({word for words in sentences for word in words})
    print(
        f"{name}: {sum(lengths)} tokens, {forms} word forms, {min(lengths)}-{max(lengths)} tokens a sentence, "
        f"mean {statistics.mean(lengths):.1f}; {1 - linked / sum(lengths):.1%} unaligned"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()

    with timed("read"):
        pairs = read_pairs()
    with timed("forests"):
        parts = split(pairs)
        parsed = forests(parts)
    with tempfile.TemporaryDirectory() as folder, timed("all that, and write"):
        write_corpus(folder)

    for side, name in enumerate(("zh", "en")):
        linked = {(n, link[side]) for n, pair in enumerate(pairs) for link in pair.alignment}
        describe(name, [text(pair)[side] for pair in pairs], len(linked))
    found = [forest for part in parsed.values() for forest in part]
    counts = sorted(forest.count() for forest in found)
    print(
        f"parses: {sum(count > 1 for count in counts) / len(counts):.1%} of the sentences have several, "
        f"median {counts[len(counts) // 2]:.0f}, nine tenths at most {counts[len(counts) * 9 // 10]:.0f}; "
        f"{statistics.mean(forest.graph.edges for forest in found):.0f} edges a forest"
    )
    right = sum(forest.viterbi() == pair.source_tree for pair, forest in zip(pairs, found, strict=True))
    print(f"best trees: {right / len(pairs):.1%} are the true ones")
    for side, name in enumerate(("zh", "en")):
        known = {word for pair in parts["train"] for word in text(pair)[side]}
        test = [word for pair in parts["test"] for word in text(pair)[side]]
        print(f"{name}: {sum(word not in known for word in test)} of {len(test)} test tokens unseen")


if __name__ == "__main__":
    main()
