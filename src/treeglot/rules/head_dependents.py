"""Extracts rules from head-dependents relations (Xie et al. 2011, 2014), and phrase pairs in addition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeglot._core import HeadDependentsExtractor
from treeglot.base.options import Options, option
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import collect
from treeglot.rules.extract import Extracting, extractor


@dataclass(frozen=True)
class HeadDependentsOptions(Options):
    """Options that select rules from a source dependency tree, its translation and their alignment."""

    max_phrase: int = option(7, "words of a bilingual phrase on either side (Xie et al. 2014)", least=1)
    max_variants: int = option(32, "ways to share out unaligned target words tried for a rule", least=1)
    max_nonterminals: int = option(0, "nonterminals of a hierarchical phrase; 0: phrases have none", least=0)
    max_span: int = option(10, "source words of a hierarchical phrase, nonterminals filled", least=1)
    max_symbols: int = option(6, "source symbols of a hierarchical phrase", least=1)


@extractor("head-dependents", HeadDependentsOptions)
def head_dependents(pairs: Iterable[Pair], options: HeadDependentsOptions, threads: int) -> Extracting:
    """Extract rules from the relations of source dependency trees, and phrase pairs.

    A tree without words (a failed parse), with a cycle or with a missing head yields only phrases. A tree that is not
    projective is made projective. The counts record how many there were.
    """
    found = collect(pairs)
    core = HeadDependentsExtractor(found.bitext, found.source_dependencies, options)
    return Extracting(core, labels=True, apart=True)
