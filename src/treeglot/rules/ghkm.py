"""Extracts rules from packed forests or trees: tree fragments, translated by words or dependency structures.

`RULE_SETS` contains the options of the five rule sets in table 2 of the c2d paper.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from treeglot._core import DependencyBank, GhkmExtractor
from treeglot.base.errors import FormatError, OptionError, UsageError
from treeglot.base.options import Options, option
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import Kept, Part, collect
from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import Extracting, Extraction, extractor
from treeglot.syntax import Dependency
from treeglot.syntax.formats import read_dependencies


@dataclasses.dataclass(frozen=True)
class GhkmOptions(Options):
    """Options that select the rules of a forest and its translation. A limit of -1 means no limit."""

    well_formed: bool = option(False, "cut only where the target's dependency structure is well-formed (c2d rules)")
    structure: bool = option(False, "keep the dependency structures of target sides, and their tags")
    phrases: Literal["none", "all", "well-formed"] = option("all", "phrases taken over the spans of forest nodes")
    all_spans: bool = option(False, "phrases without variables over any span, not over nodes alone")
    phrase_dependencies: Path | None = option(
        None, "parses of target phrases, as dependencies with tags: ill-formed phrases have their structures"
    )
    max_phrase: int = option(7, "source words of a phrase", least=1, unlimited=True)
    phrase_loose: int = option(-1, "unaligned target words at the ends of a phrase", least=0, unlimited=True)
    sequences: bool = option(False, "phrases over neighbouring children of a node, too")
    max_nonterminals: int = option(0, "nonterminals of a hierarchical phrase; 0: phrases have none", least=0)
    max_span: int = option(10, "source words of a hierarchical phrase, nonterminals filled", least=1)
    max_symbols: int = option(6, "source symbols of a hierarchical phrase", least=1)
    prune: float = option(
        3.0, "margin of pruning the forest before, in natural logarithms (the c2d paper's)", least=0, infinite=True
    )
    max_composed: int = option(3, "minimal rules in a composed rule", least=1, unlimited=True)
    minimal_height: int = option(12, "depth of a minimal rule, in edges", least=1, unlimited=True)
    minimal_edges: int = option(40, "edges of a minimal rule", least=1, unlimited=True)
    minimal_leaves: int = option(30, "words and variables of a minimal rule's source side", least=1, unlimited=True)
    minimal_fragments: int = option(200, "minimal rules below one node", least=1, unlimited=True)
    composed_height: int = option(5, "depth of a composed rule, in edges", least=1, unlimited=True)
    composed_edges: int = option(12, "edges of a composed rule", least=1, unlimited=True)
    composed_leaves: int = option(8, "words and variables of a composed rule's source side", least=1, unlimited=True)
    composed_fragments: int = option(500, "composed rules below one node", least=1, unlimited=True)

    # Galley et al. (2006) attach them to every node that can take them.
    max_attachments: int = option(
        1, "ways to attach unaligned target words, sharing a count; 1: to the highest node", least=1, unlimited=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.structure and not self.well_formed:
            raise OptionError("structure is kept only of well-formed rules: set well_formed too", ("structure",))

    def check(self, table: str = "") -> None:
        """Refuse dependencies of phrases if the rules have no structures, or if the file is missing.

        `table` names the place of the options in the message.
        """
        path = self.phrase_dependencies
        if path is None:
            return
        name, key = f"{table}phrase_dependencies", (*table.split(".")[:-1], "phrase_dependencies")
        if not self.structure or self.phrases != "all":
            problem = f"{name} is {path}; they are of rules that keep structures and have all phrases"
            raise UsageError(f"{problem}, such as those of c2d", key)
        if not path.is_file():
            raise UsageError(f"{name} is {path}, and there is no such file; expected dependencies of phrases", key)


RULE_SETS = {
    "c2s": GhkmOptions(),
    "c2s-wf": GhkmOptions(well_formed=True, phrases="well-formed"),
    "c2s-wf-s2s": GhkmOptions(well_formed=True),
    "c2d-s2d": GhkmOptions(well_formed=True, structure=True, phrases="well-formed"),
    "c2d": GhkmOptions(well_formed=True, structure=True),
}
"""The rule sets of the c2d paper, table 2, by name."""


@extractor("ghkm", GhkmOptions)
def ghkm(pairs: Iterable[Pair], options: GhkmOptions, threads: int) -> Extracting:
    """Extract minimal and composed rules from source forests. Pairs without a parse yield no rules and are counted.

    Target dependencies are needed for well-formed rules and phrases.
    """
    options.check()
    parsed: list[Dependency] = []
    if (path := options.phrase_dependencies) is not None:
        kept = pairs.kept if isinstance(pairs, Part) else Kept()
        if path not in kept:
            kept[path] = _phrase_trees(path)
        parsed = kept[path]
    found = collect(pairs, prune=options.prune, threads=threads)
    trees = found.target_dependencies
    if trees is None and (options.well_formed or options.phrases == "well-formed"):
        if len(found.bitext):
            raise UsageError("well-formed rules and phrases take the dependency trees of the target sides")
        trees = DependencyBank()
    core = GhkmExtractor(found.bitext, found.forests, trees, options, parsed)
    return Extracting(core, labels=options.structure, roots=True)


def _phrase_trees(path: Path) -> list[Dependency]:
    """Return the dependency trees of phrases.

    Crossing arcs are lifted; trees with cycles or missing heads are left out.
    """
    found = []
    for number, tree in enumerate(read_dependencies(path), 1):
        if len(tree) and not tree.tags:
            raise FormatError(str(path), 0, f"tree {number}: it has no tags; expected a tag for each word")
        if not tree.cycle() and not (tree.heads == Dependency.NO_HEAD).any():
            found.append(tree if tree.is_projective() else tree.projectivise()[0])
    return found


@dataclasses.dataclass(frozen=True)
class RuleKinds:
    """The numbers of different rules in an extraction from forests, by kind (table 2 of the c2d paper)."""

    fragments: int  # c2s or c2d rules
    phrases: int  # s2s or s2d rules

    def _repr_html_(self) -> str:
        from treeglot.syntax.draw.bars import html_table

        return html_table([["kind", "rules"], ["fragments", f"{self.fragments:,}"], ["phrases", f"{self.phrases:,}"]])


def rule_kinds(extraction: Extraction, engine: Engine | None = None) -> RuleKinds:
    """Count the different rules of each kind. Two rules with different structures are different rules."""
    engine = engine or DuckDB(folder=extraction.folder)
    several = extraction.facts["parts"] > 1  # of one part, rows are rules
    different = f"SELECT {'DISTINCT ' * several}source, target, lhs FROM counts"
    # The code of a fragment begins with 11, which opens its root. That of a phrase begins with a word or a variable.
    shape = "substr(hex(source), 1, 2) <> '0B'"
    statements = [
        Statement("kinds", f"SELECT {shape} AS phrase, count(*) AS rules FROM ({different}) GROUP BY {shape}")
    ]
    batches = engine.run({"counts": extraction.files}, statements)
    found = {row["phrase"]: row["rules"] for batch in batches for row in batch.to_pylist()}
    return RuleKinds(found.get(False, 0), found.get(True, 0))
