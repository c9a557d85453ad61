"""Sentence pairs and their rules, as tests of extraction write and read them."""

from itertools import pairwise
from typing import NamedTuple

from treeglot import _core
from treeglot.corpus.pairs import Pair
from treeglot.rules.extract import EXTRACTORS

UNIT = 2**28


def pairs_of(triples, **parses):
    """A pair for each (source, target, links); `parses` has a list for each field that pairs have beside them."""
    triples = list(triples)
    more = [dict(zip(parses, row, strict=True)) for row in zip(*parses.values(), strict=True)] if parses else []
    return [Pair(n, *triple, **(more[n - 1] if parses else {})) for n, triple in enumerate(triples, 1)]


def bitext(triples):
    """Aligned words alone, in the core."""
    builder = _core.BitextBuilder()
    for source, target, links in triples:
        builder.append(source, target, links)
    return builder.finish()


class Row(NamedTuple):
    """A row of a tally, as text."""

    lhs: str
    source: str
    target: str
    structure: str
    alignment: str
    labels: str
    units: float
    occurrences: int


def run(extractor, pairs, options, threads=1, merged=False):
    """The rows of all rules that an extractor takes, its counts and its labels."""
    core = EXTRACTORS[extractor][1](pairs, options, threads).core
    tally = _core.Tally()
    assert core.extract(0, tally, 1 << 30, threads) == len(core.bitext)
    renderer = _core.Renderer(core.bitext.source_words, core.bitext.target_words, core.labels)
    lexical = _core.LexicalTable(core.bitext)
    source, target, alignment, labels, count, times, *_ = tally.columns(0, tally.partitions, lexical, merged)

    def text(buffers):
        offsets, data = buffers
        return [bytes(data[b:e]).decode() for b, e in pairwise(offsets)]

    columns = map(text, (*renderer.source(*source), *renderer.target(*source, *target)))
    notes = text(renderer.alignment(*alignment)), text(renderer.labels(*labels))
    rows = zip(*columns, *notes, (count * UNIT).tolist(), times.tolist(), strict=True)
    return [Row(*row) for row in rows], core.counts, core.labels
