"""Every format: what is written is read back the same, however the bytes are cut; what cannot be is refused."""

import itertools
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_strategies import (
    SEPARATORS,
    alignments,
    any_labels,
    any_words,
    dependencies,
    forests,
    labels,
    lattices,
    trees,
    words,
)

from treeglot import Dependency, ParseForest, Tree
from treeglot._core import ScoreKind
from treeglot.syntax import FORMATS

no_suffix = labels.filter(lambda label: not label.rstrip("0123456789").endswith("^g"))
no_bracket = labels.filter(lambda label: not set("()") & set(label))
no_underscore = labels.map(lambda label: "x" + label)
no_mark = words.filter(lambda word: not word.startswith("\ufeff"))
# "-LRB" before a bracket would make an escape.
calm = words.filter(lambda word: "LRB" not in word and "RRB" not in word)
WORD = re.compile("[^\x00-\x20\x7f]+")  # of a lattice
posterior = st.just(ScoreKind.posterior)

WRITABLE: dict[str, st.SearchStrategy[Any]] = {
    "text": st.lists(no_mark, max_size=6),
    "brackets": st.one_of(trees(words=st.lists(calm, min_size=1, max_size=5), labels=no_bracket), st.just(Tree())),
    "egret": forests(words=calm, labels=no_suffix, kinds=posterior, plain=True),
    "jsonl": forests(words=any_words.filter(len), labels=any_labels.filter(len)),
    "lattice": lattices(words=any_words.filter(WORD.fullmatch)),
    "conllu": dependencies(words=st.one_of(words, st.just("a b")), labels=no_underscore),
    "conllx": dependencies(labels=no_underscore),
    "pharaoh": alignments,
}


def written(name: str, values: list[Any], **options: Any) -> bytes:
    to_text = FORMATS[name].open_writer(options)
    return "".join(map(to_text, values)).encode()


def read_back(name: str, data: bytes, cuts: list[int] | None = None, **options: Any) -> list[Any]:
    reader = FORMATS[name].open_reader("file", False, options)
    places = [0, *sorted(cuts or []), len(data)]
    values: list[Any] = []
    for begin, end in itertools.pairwise(places):
        values += reader.feed(data[begin:end])
    while more := reader.finish():
        values += more
    return values


def test_all_formats_are_here() -> None:
    assert set(WRITABLE) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60)
@given(data=st.data())
def test_round_trip(name: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(WRITABLE[name], max_size=3))
    text = written(name, values)
    assert read_back(name, text) == values
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert read_back(name, text, cuts) == values
    assert read_back(name, text, list(range(len(text)))) == values  # a byte at a time
    cut_off = name == "egret" or (text.splitlines()[-1:] == [b""] and name in {"text", "pharaoh"})
    if not cut_off:  # the last newline may be missing where it is not a line of its own
        assert read_back(name, text.removesuffix(b"\n")) == values


@given(dependencies(labels=no_underscore))
def test_the_other_column_of_tags(dependency: Dependency) -> None:
    text = written("conllu", [dependency], tags="xpos")
    assert read_back("conllu", text, tags="xpos") == [dependency]
    assert read_back("conllu", text) == [dependency]  # UPOS has none
    assert read_back("conllx", written("conllx", [dependency]), tags="cpostag") == [dependency]


def reasons(name: str, value: Any) -> bool:
    """Whether there is a reason to refuse the value, from the documentation of the formats."""

    def bad_word(word: str, escaped: bool) -> bool:
        return not word or bool(set(SEPARATORS) & set(word)) or (escaped and any(f"{b}-" in word or "-" + b in word for b in ("LRB", "RRB", "LSB", "RSB", "LCB", "RCB")))  # fmt: skip # noqa: E501

    if name == "text":
        return any(bad_word(w, False) for w in value) or (bool(value) and value[0].startswith("\ufeff"))
    if name == "brackets":
        assert isinstance(value, Tree)
        phrases = [value.label(v) for v in range(value.size) if not value.is_word(v)]
        return any(bad_word(w, True) for w in value.words) or any(set(SEPARATORS + "()") & set(p) for p in phrases)
    if name == "egret":
        assert isinstance(value, ParseForest)
        phrases = value.labels[len(value.words) :]
        tails = [value.graph.tails[b:e].tolist() for b, e in zip(value.graph.first_tail, value.graph.first_tail[1:], strict=False)]  # fmt: skip # noqa: E501
        beside = any(len(t) > 1 and any(value.is_word(v) for v in t) for t in tails)
        used = {v for t in tails for v in t}
        roots = [v for v in range(value.graph.nodes) if v not in used and value.span(v) == (0, len(value.words))]
        return (
            any(bad_word(w, True) for w in value.words)
            or any(set(" \n\r\0") & set(p) or re.search(r".\^g[0-9]*$", p, re.DOTALL) for p in phrases)
            or value.kind != ScoreKind.posterior
            or beside
            or (value.parsed and len([v for v in roots if not value.is_word(v)]) != 1)
        )
    assert isinstance(value, Dependency)
    separators = "\t\n\r\0" + (" " if name == "conllx" else "")
    columns = [value.words, value.tags or [], value.relations or []]
    return any(
        any(not text or set(separators) & set(text) for text in column) or (i > 0 and column and set(column) == {"_"})
        for i, column in enumerate(columns)
    )


ANY: dict[str, st.SearchStrategy[Any]] = {
    "text": st.lists(any_words, max_size=3),
    "brackets": trees(words=st.lists(any_words.filter(len), min_size=1, max_size=3), labels=any_labels.filter(len)),
    "egret": forests(words=any_words.filter(len), labels=any_labels.filter(len)),
    "conllu": dependencies(words=any_words.filter(len), labels=any_labels),
    "conllx": dependencies(words=any_words.filter(len), labels=any_labels),
}


@pytest.mark.parametrize("name", ANY)
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_not_refused_is_read_back(name: str, data: st.DataObject) -> None:
    value = data.draw(ANY[name])
    try:
        text = written(name, [value])
    except ValueError as error:
        assert reasons(name, value), str(error)
    else:
        assert read_back(name, text) == [value]
