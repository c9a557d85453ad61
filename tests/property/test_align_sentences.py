"""Sentence alignment against an enumeration of all sequences of beads, and on a document with known pairs."""

import math
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import _core, sample
from treeglot.align import Aligner
from treeglot.align.sentences import align_sentences
from treeglot.cli import main

PRIORS = {(1, 1): 0.89, (1, 0): 0.00495, (0, 1): 0.00495, (1, 2): 0.0445, (2, 1): 0.0445, (2, 2): 0.011}
PAIRS = [(pair.source_tree.words, pair.target_tree.words) for pair in sample.read_pairs(240)]
Bead = tuple[int, int, int, int]


def sequences(sources: int, targets: int, at: tuple[int, int] = (0, 0)) -> Iterator[list[Bead]]:
    """All sequences of beads of so many sentences."""
    if at == (sources, targets):
        yield []
    for s, t in PRIORS:
        to = at[0] + s, at[1] + t
        if to[0] <= sources and to[1] <= targets:
            for rest in sequences(sources, targets, to):
                yield [(at[0], to[0], at[1], to[1]), *rest]


def length_gain(source: float, target: float, sentences: int, model: tuple[float, float, float]) -> float:
    """log p(target | source) - log p(target)."""
    ratio, variance, mean = model
    spread = variance * (ratio * source + target) / 2
    together = math.exp(-((target - ratio * source) ** 2) / (2 * spread)) / math.sqrt(2 * math.pi * spread)
    alone = target ** (sentences - 1) * math.exp(-target / mean) / mean**sentences
    return math.log(together) - math.log(alone)


words = st.lists(st.sampled_from("abc"), min_size=1, max_size=3)
sentences = st.lists(st.tuples(st.floats(1, 60), words), max_size=4)


@cache
def toy() -> Aligner:
    pairs = [(["a", "b"], ["b", "a"]), (["a", "c"], ["a", "c"])] * 8
    return Aligner.train(pairs, options={"chains": 1, "rounds": 5})


@settings(deadline=None, max_examples=60)
@given(sentences, sentences, st.floats(0.5, 2), st.floats(1, 9), st.floats(5, 40), st.booleans())
def test_beads_are_the_best_of_all(
    source: list[tuple[float, list[str]]],
    target: list[tuple[float, list[str]]],
    ratio: float,
    variance: float,
    mean: float,
    lexical: bool,
) -> None:
    model = ratio, variance, mean

    def score(bead: Bead) -> float:
        s, t = source[bead[0] : bead[1]], target[bead[2] : bead[3]]
        out = math.log(PRIORS[len(s), len(t)])
        if s and t:
            out += length_gain(sum(x for x, _ in s), sum(x for x, _ in t), len(t), model)
        if s and t and lexical:
            out += toy().core.evidence([w for _, ws in s for w in ws], [w for _, ws in t for w in ws])
        return out

    scored = [(sum(map(score, beads)), beads) for beads in sequences(len(source), len(target))]
    best = max(total for total, _ in scored)
    total = sum(math.exp(one - best) for one, _ in scored)
    lengths = [([x for x, _ in source], [x for x, _ in target])]
    text = [([ws for _, ws in source], [ws for _, ws in target])]
    (found,) = _core.align_sentences(lengths, text, model, toy().core if lexical else None, 1)
    beads = [one[:4] for one in found]
    assert sum(map(score, beads)) == pytest.approx(best, abs=1e-6)
    for *bead, posterior in found:
        share = sum(math.exp(one - best) for one, path in scored if tuple(bead) in path) / total
        assert posterior == pytest.approx(share, abs=1e-4)


def test_evidence() -> None:
    links, none, _, _ = toy().core.factors(["a", "b"], ["b"], False)
    back, back_none, _, _ = toy().core.factors(["a", "b"], ["b"], True)
    alone = {"a": 17 / 36, "b": 9 / 36}  # each side has 32 tokens and 3 words; 16 of the tokens are a, 8 are b
    wanted = math.log(0.5 + 0.5 * (links[0].mean() + none[0]) / alone["b"])
    for word, row, nothing in zip("ab", back, back_none, strict=True):
        wanted += math.log(0.5 + 0.5 * (row.mean() + nothing) / alone[word])
    assert toy().core.evidence(["a", "b"], ["b"]) == pytest.approx(wanted / 2, rel=1e-4)


def test_long_documents_are_searched_in_a_band_that_widens() -> None:
    generator = random.Random(1)
    lengths = [float(generator.randint(20, 200)) for _ in range(600)]
    source = lengths[150:]  # the translation begins with 150 sentences of its own
    (found,) = _core.align_sentences([(source, lengths)], [], (1.0, 1.0, 110.0), None, 1)
    pairs = {(a, c) for a, b, c, d, _ in found if b - a == d - c == 1}
    assert sum((k, k + 150) in pairs for k in range(450)) > 400
    # One side alone, or nothing at all.
    (alone,) = _core.align_sentences([([], lengths)], [], (1.0, 1.0, 110.0), None, 1)
    assert [one[:4] for one in alone] == [(0, 0, k, k + 1) for k in range(600)]
    assert _core.align_sentences([([], [])], [], (1.0, 1.0, 110.0), None, 1) == [[]]
    with pytest.raises(ValueError, match="expected lengths above 0"):
        _core.align_sentences([([0.0], [1.0])], [], (1.0, 1.0, 1.0), None, 1)


def document() -> tuple[list[list[list[str]]], list[list[list[str]]], set[tuple[str, str]]]:
    """Paragraphs of ten pairs, of which some are joined and some sides are missing, and the pairs to find."""
    generator = random.Random(7)
    source: list[list[list[str]]] = []
    target: list[list[list[str]]] = []
    wanted: set[tuple[str, str]] = set()
    for first in range(0, len(PAIRS), 10):
        source.append([])
        target.append([])
        for s, t in PAIRS[first : first + 10]:
            kind = generator.choices(["pair", "no target", "no source", "two"], [80, 5, 5, 10])[0]
            half = len(s) // 2
            if kind != "no source":
                source[-1] += [s[:half], s[half:]] if kind == "two" and half else [s]
            if kind != "no target":
                target[-1].append(t)
            if kind in ("pair", "two"):
                wanted.add((" ".join(s), " ".join(t)))
    return source, target, wanted


def test_words_help_where_lengths_are_alike() -> None:
    source, target, wanted = document()
    paragraphs = list(zip(source, target, strict=True))
    found = {}
    for learn in (False, True):
        beads = align_sentences(paragraphs, learn=learn, threads=2)
        texts = {
            (" ".join(w for k in bead.source for w in s[k]), " ".join(w for k in bead.target for w in t[k]))
            for (s, t), each in zip(paragraphs, beads, strict=True)
            for bead in each
            if not bead.dropped
        }
        found[learn] = 2 * len(texts & wanted) / (len(texts) + len(wanted))
        for (s, t), each in zip(paragraphs, beads, strict=True):
            assert [k for bead in each for k in bead.source] == list(range(len(s)))
            assert [k for bead in each for k in bead.target] == list(range(len(t)))
    assert found[True] > 0.9
    assert found[True] > found[False]
    assert align_sentences(paragraphs, learn=False) == align_sentences(paragraphs, learn=False, threads=2)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target, wanted = document()
    files = [str(tmp_path / name) for name in ("zh", "en")]
    for name, side in zip(files, (source, target), strict=True):
        Path(name).write_text("\n\n".join("\n".join(" ".join(words) for words in part) for part in side) + "\n")
    out = [str(tmp_path / name) for name in ("pairs.zh", "pairs.en", "dropped.tsv")]
    run = ["align-sentences", *files, "--out-source", out[0], "--out-target", out[1], "--dropped", out[2]]
    assert main(run) == 0
    lines = [Path(name).read_text().splitlines() for name in out]
    assert len(set(zip(lines[0], lines[1], strict=True)) & wanted) > 0.85 * len(wanted)
    assert (
        f"{len(lines[0])} pairs of {len(source)} paragraphs, {len(lines[2])} dropped, 1-1 " in capsys.readouterr().err
    )
    assert {line.split("\t")[1] for line in lines[2]} <= {"no source", "no target", "doubtful"}
    sentences = sum(map(len, source)) + sum(map(len, target))
    assert main([*run, "--lengths", "--whole", "--least", "0", "--quiet"]) == 0
    assert sum(len(line.split()) for name in out[:2] for line in Path(name).read_text().splitlines()) > sentences
    Path(files[1]).write_text("one\n")
    assert main(run) == 2
    assert f"zh has {len(source)} paragraphs and" in capsys.readouterr().err


def test_the_command_takes_raw_text(tmp_path: Path) -> None:
    (tmp_path / "de").write_text("Das ist ein Haus. Es ist sehr groß und alt.\n\nNein.\n")
    (tmp_path / "en").write_text("This is a house.  It is very big and old.\nDropped.\nNo.\n")
    out = [tmp_path / "pairs.de", tmp_path / "pairs.en"]
    run = ["align-sentences", str(tmp_path / "de"), str(tmp_path / "en"), "--languages", "de-en", "--lengths"]
    assert main([*run, "--out-source", str(out[0]), "--out-target", str(out[1])]) == 0
    assert out[0].read_text().splitlines() == ["Das ist ein Haus.", "Es ist sehr groß und alt.", "Nein."]
    assert out[1].read_text().splitlines() == ["This is a house.", "It is very big and old.", "No."]
