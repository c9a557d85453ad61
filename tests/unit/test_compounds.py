"""Rare words are split, or get another ending: the best parts match enumeration, and frequent words stay."""

from itertools import combinations, product
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot.cli import main
from treeglot.text.compounds import CHANGED, FREQUENT, LINKING_COST, CompoundOptions, CompoundSplitter

FREQUENT_WORDS = {str(number): 1000 for number in range(FREQUENT)}  # they take the places of short words in the tests
OPTIONS = CompoundOptions(most=3, least=2, shortest=1, linking=("s",), endings=("e",), lost=(), stem=2)


def all_splits(word: str, splitter: CompoundSplitter) -> dict[tuple[str, ...], float]:
    """All ways to make a word of known parts and linking letters, with their mean log counts, by enumeration."""
    counts, found = splitter.counts, {}
    cuts = [places for size in range(1, len(word)) for places in combinations(range(1, len(word)), size)]
    for places in cuts:
        pieces = [word[a:b] for a, b in zip((0, *places), (*places, len(word)), strict=True)]
        choices = [
            [(p.removesuffix(link), link) for link in ("", "-", "s", "s-") if p.endswith(link)] for p in pieces[:-1]
        ]
        last = [(pieces[-1], "")]
        if word not in counts and len(pieces[-1]) > 2 and counts.get(pieces[-1], 0) < 2:
            last = [(v, "changed") for v in [splitter._variant(pieces[-1])] if v]
        for parts in product(*choices, last):
            if all(counts.get(part, 0) >= 2 and usable(part, link) for part, link in parts):
                scores = [log(counts[part]) + cost(link) for part, link in parts]
                key = tuple(part for part, _ in parts)
                found[key] = max(found.get(key, -99.0), sum(scores) / len(scores))
    return found


def usable(part: str, link: str) -> bool:
    if "-" in link:
        return not part.startswith("-") and not part.endswith("-")
    return link == "changed" or (part.replace("-", "").isalpha() and len(part) > 1)


def cost(link: str) -> float:
    return {"changed": log(CHANGED), "s": -LINKING_COST, "s-": -LINKING_COST}.get(link, 0.0)


@given(
    st.dictionaries(st.text("abes", min_size=1, max_size=4), st.integers(1, 9), min_size=1, max_size=12),
    st.text("abes-", min_size=2, max_size=8),
)
def test_the_best_parts_match_enumeration(counts: dict[str, int], word: str) -> None:
    splitter = CompoundSplitter({**counts, **FREQUENT_WORDS}, OPTIONS)
    count = counts.get(word, 0)
    found = splitter._best_parts(word, count)
    splits = all_splits(word, splitter)
    best = max(splits.values(), default=-9.0)
    if found:
        assert splits[found] == pytest.approx(best)
    assert bool(found) == (best > (log(count) if count else -1.0) + 1e-9)


def learnt() -> CompoundSplitter:
    often = dict.fromkeys(("strand", "ruhig", "besucher", "straße", "bildschirm", "bild", "schirm", "tier"), 30)
    words = {"der": 2000, "haus": 30, "boot": 30, "haustier": 1, **often, **FREQUENT_WORDS}
    return CompoundSplitter(words)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("strandbesucher", "strand besucher"),
        ("straßenbild", "straße bild"),  # a linking letter
        ("bildschirm", "bildschirm"),  # frequent
        ("haustier", "haus tier"),  # once in the corpus
        ("strand-boot", "strand boot"),
        ("ruhiges", "ruhig"),  # an unknown ending
        ("strandbesuchern", "strand besucher"),  # both
        ("derstrand", "derstrand"),  # frequent short words are no parts
        ("boot2", "boot2"),
        ("unbekannt", "unbekannt"),
        ("tier", "tier"),
        ("-", "-"),
        ("", ""),
    ],
)
def test_words(word: str, parts: str) -> None:
    assert " ".join(learnt().split(word)) == parts


def test_long_words_stay() -> None:
    assert learnt().split("strand" * 10) == ("strand" * 10,)


def test_the_command_keeps_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.de").write_text("der strand\ndie besucher\n" * 30)
    (tmp_path / "dev.de").write_text("\nder strandbesucher\n\n")
    files = [str(tmp_path / name) for name in ("train.de", "dev.de", "out.de")]
    assert main(["compounds", *files[:2], "-o", files[2]]) == 0
    assert Path(files[2]).read_text() == "\nder strand besucher\n\n"
    assert "2 words, 1 of them unknown: now 3, 0 of them unknown" in capsys.readouterr().err
