"""The text of a second language model: sentences of other corpora, without those that tests have.

python bench/lm_text.py --held-out DATA/zh-en/dev.lc.en DATA/zh-en/test.lc.en --out more.lc.en RAW/*-de-en/train.en.xz

Lines are tokenised, lowercased and written once. A line is left out if its words are nearly those of a held-out
sentence: of all words that either has, four in five are in both. zh-en leaves such pairs out of its own training data.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from treeglot.base.files import read_lines, write_binary
from treeglot.text.languages import find_language
from treeglot.text.words import tokenise_icu

NEAR = 0.8  # Jaccard's index of bags of words


class HeldOut:
    """Sentences that no text may be near to."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.bags = [bag(sentence) for sentence in sentences]
        self.having: dict[tuple[str, int], list[int]] = defaultdict(list)
        for number, words in enumerate(self.bags):
            for word in words:
                self.having[word].append(number)

    def near(self, sentence: str) -> bool:
        """Whether a sentence is nearly one of them. Words alone count, not punctuation."""
        words = bag(sentence)
        common: dict[int, int] = defaultdict(int)
        for word in words:
            for number in self.having.get(word, ()):
                common[number] += 1
        return any(n >= NEAR * (len(words) + len(self.bags[number]) - n) for number, n in common.items())


def bag(sentence: str) -> set[tuple[str, int]]:
    """The words of a sentence, those that come again with a number."""
    seen: dict[str, int] = defaultdict(int)
    out = set()
    for word in sentence.split():
        if any(character.isalnum() for character in word):
            out.add((word, seen[word]))
            seen[word] += 1
    return out


def words_of(files: Iterable[Path]) -> Iterator[str]:
    """The lines of some files, tokenised and lowercased."""
    english = find_language("en")
    for file in files:
        for tokens in tokenise_icu(read_lines(file), english):
            yield " ".join(tokens.words).lower()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--held-out", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    held_out = HeldOut(line for file in given.held_out for line in read_lines(file))
    every = list(words_of(given.texts))
    different = [line for line in dict.fromkeys(every) if line]
    kept = [line for line in different if not held_out.near(line)]
    with write_binary(given.out) as stream:
        for line in kept:
            stream.write(f"{line}\n".encode())
    print(f"{len(every):,} lines, {len(different):,} different ones, {len(kept):,} not near a held-out sentence")
    print(f"{sum(len(line.split()) for line in kept):,} words")


if __name__ == "__main__":
    main()
