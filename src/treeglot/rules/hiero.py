"""Extracts rules of Hiero (Chiang 2007), optionally with categories (Chiang 2010) or dependency structures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from treeglot._core import DependencyBank, FuzzyLabels, HieroExtractor, TargetStructures
from treeglot.base.options import Options, option
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import collect
from treeglot.rules.extract import Extracting, extractor
from treeglot.syntax.same_words import punctuation


@dataclass(frozen=True)
class HieroOptions(Options):
    """Options that select the rules of a sentence pair in Hiero.

    The defaults are those of Chiang (2010), table 2, for Chinese–English. A limit of -1 means no limit.
    """

    max_phrase: int = option(10, "source words of an initial phrase", least=1, unlimited=True)
    max_target_phrase: int = option(-1, "target words of an initial phrase", least=1, unlimited=True)
    max_symbols: int = option(6, "source symbols of a rule", least=1, unlimited=True)
    max_nonterminals: int = option(2, "nonterminals of a rule", least=0, unlimited=True)
    min_hole: int = option(1, "source words that a nonterminal stands for, at least", least=1, unlimited=True)
    adjacent: bool = option(False, "allow nonterminals side by side on the source side")
    loose_source: int = option(
        0, "unaligned source words at the ends of phrases that gappy rules are made of", least=0, unlimited=True
    )
    loose_target: int = option(
        0, "unaligned target words at the ends of phrases that gappy rules are made of", least=0, unlimited=True
    )
    phrase_loose_source: int = option(
        -1, "unaligned source words at the ends of phrases that are rules themselves", least=0, unlimited=True
    )
    phrase_loose_target: int = option(
        1, "unaligned target words at the ends of phrases that are rules themselves", least=0, unlimited=True
    )
    core: int = option(-1, "number of first sentence pairs that give rules with nonterminals", least=0, unlimited=True)

    def after(self, pairs: int) -> HieroOptions:
        """Return the options for the pairs that follow the first `pairs` of a corpus."""
        return self if self.core == -1 else replace(self, core=max(0, self.core - pairs))

    def repeated(self, times: int) -> HieroOptions:
        """Return the options for a corpus that contains each pair `times` times."""
        return self if self.core == -1 else replace(self, core=self.core * times)


@dataclass(frozen=True)
class FuzzyOptions(HieroOptions):
    """Options that select rules of Hiero, and define how their phrases are labelled."""

    nesting: bool = option(False, "use only phrases that do not cross each other")
    hard: bool = option(False, "make target categories part of the rules")


@dataclass(frozen=True)
class StructureOptions(HieroOptions):
    """Options that select Hiero's rules with dependency structures on their target sides."""

    strict: bool = option(True, "well-formed structures as Shen et al. (2008) define them; else as for c2d")
    ill_formed: bool = option(False, "take rules with ill-formed structures, too; the feature ill_formed counts them")


@extractor("hiero", HieroOptions)
def hiero(pairs: Iterable[Pair], options: HieroOptions, threads: int) -> Extracting:
    """Extract hierarchical phrases, without any syntax."""
    return Extracting(HieroExtractor(collect(pairs).bitext, options))


@extractor("fuzzy", FuzzyOptions)
def fuzzy(pairs: Iterable[Pair], options: FuzzyOptions, threads: int) -> Extracting:
    """Extract Hiero's rules. Each phrase is labelled with the categories of its spans in the trees of both sides."""
    found = collect(pairs)
    labels = FuzzyLabels(
        found.bitext,
        found.source_trees,
        found.target_trees,
        punctuation(found.bitext.source_words),
        punctuation(found.bitext.target_words),
        options.nesting,
        options.hard,
    )
    return Extracting(HieroExtractor(found.bitext, options, labels), labels=not options.hard, keyed=True)


@extractor("string-dependency", StructureOptions)
def string_dependency(pairs: Iterable[Pair], options: StructureOptions, threads: int) -> Extracting:
    """Extract Hiero's rules whose target sides are well-formed dependency structures (Shen et al. 2008).

    A phrase with an ill-formed target side is not a rule and does not fill a variable, unless `ill_formed` is set.
    Rules keep their structure, and the tags of their words as notes. Rules with ill-formed phrases are marked. A tree
    without words excludes all phrases of its pair, and a cycle excludes the phrases around it.
    """
    found = collect(pairs)
    trees = found.target_dependencies or DependencyBank()
    structures = TargetStructures(found.bitext, trees, options.strict, options.ill_formed)
    return Extracting(HieroExtractor(found.bitext, options, structures), labels=True)
