"""The options that kinds of models share."""

from __future__ import annotations

from dataclasses import dataclass

from treeglot.base.options import Options, option
from treeglot.decode import SearchOptions
from treeglot.lm.train import HIGHEST_ORDER
from treeglot.rules import CompileOptions, ScoreOptions
from treeglot.syntax import heads


def order_of_lm(default: int, paper: str = "") -> int:
    """The option of the language model's order, whose default differs from kind to kind."""
    return option(default, "words in the language model's longest n-grams", least=1, most=HIGHEST_ORDER, paper=paper)


@dataclass(frozen=True)
class ModelOptions(Options):
    """What the options of all kinds have in common. A kind adds `extract`, the options of its extractor."""

    score: ScoreOptions = option(ScoreOptions(), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(), "how input is translated")
    lm_order: int = order_of_lm(5)
    compile: CompileOptions = option(CompileOptions(), "what of the rules becomes a feature, and which are left out")


@dataclass(frozen=True)
class ParsedOptions(ModelOptions):
    """Those of models that are trained on parses."""

    skip_bad: bool = option(False, "leave out parses whose words are not the text's, and count them")


@dataclass(frozen=True)
class TargetTreeOptions(ParsedOptions):
    """Those of models that are trained on dependency trees of the target side."""

    target_heads: str = option(
        "english", "head table of the target language, by name or file, for --target-trees", names=heads.names
    )
    target_style: str = option("table", "where dependencies depart from it: table, johansson-nugues, content, …")
