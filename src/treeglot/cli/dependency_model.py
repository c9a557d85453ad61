"""Functions of the `lm` commands that work on models over dependency trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import Pause
from treeglot.cli.output import say, show_data, shown_warnings

if TYPE_CHECKING:
    from treeglot.lm import DependencyModel
    from treeglot.lm.ngram import Perplexity
    from treeglot.syntax import Dependency

Unit = Literal["words", "tags"]
Conditioning = Literal["sibling", "trigram"]
SPECIAL = 3  # <unk>, <s>, </s>

# Options of these commands.
TreeFormat = Annotated[
    str | None,
    typer.Option("--from", help="The format of dependency trees, if the suffix does not say.", metavar="FORMAT"),
]
TagColumn = Annotated[
    str | None, typer.Option(help="CoNLL column of tags: upos or xpos; cpostag or postag.", metavar="COLUMN")
]


@dataclass(frozen=True)
class TreeFile:
    """A file of dependency trees, and the options for reading it."""

    path: str
    format: str | None
    tags: str | None  # the column that they are in

    def read(self, unit: Unit) -> Iterator[Dependency]:
        """Yield the trees of the file. If the model needs tags and a tree has none, raise `FormatError`."""
        from treeglot.syntax.formats import read_dependencies

        options: dict[str, Any] = {} if self.tags is None else {"tags": self.tags}
        for number, tree in enumerate(read_dependencies(self.path, self.format, **options), 1):
            if unit == "tags" and tree.tags is None and len(tree) > 0:
                raise FormatError(self.path, 0, f"tree {number} has no tags; the model is over tags")
            yield tree


def train(
    trees: TreeFile, unit: Unit, conditioning: Conditioning | None, out: str, progress: Callable[[str, int, int], None]
) -> None:
    """Train a dependency model, and write the compiled file."""
    from treeglot.lm import compile_dependency, train_dependency
    from treeglot.lm.train_dependency import CONDITIONING

    if out == "-":
        raise UsageError("a dependency model cannot be written to standard output: give --out FILE")
    with shown_warnings():
        try:
            training = train_dependency(
                trees.read(unit), unit, conditioning=conditioning or CONDITIONING, progress=progress
            )
        except FormatError:
            raise
        except ValueError as problem:
            raise FormatError(trees.path, 0, str(problem)) from None
    model = compile_dependency(training, out)
    left, right, roots = training.events
    say(f"{training.sentences:,} trees: {left:,} left children, {right:,} right children, {roots:,} roots")
    say(f"{len(model) - SPECIAL:,} different {unit} in {model.core.bytes:,} bytes")


def score(model: DependencyModel, trees: TreeFile, words: bool, unit: float) -> None:
    """Print the score of each tree, or of each word. `unit` converts log10 to the printed logarithms."""
    for tree in trees.read(model.unit):
        scores = model.full_scores(tree)
        if not words:
            log10 = math.fsum(score.log10 for score in scores)
            print(f"{unit * log10:.6f}\t{len(scores)}\t{sum(score.oov for score in scores)}", flush=Pause.now)
            continue
        for token, score in zip((tree.tags if model.unit == "tags" else tree.words) or [], scores, strict=True):
            show_data(f"{token}\t{unit * score.log10:.6f}\t{score.length}" + ("\t<unk>" if score.oov else ""))
        print(flush=Pause.now)


def total(model: DependencyModel, trees: TreeFile) -> Perplexity:
    """Return the sum of the scores of all trees."""
    return model.perplexity(trees.read(model.unit))


def show(model: DependencyModel) -> None:
    """Print a description of a dependency model."""
    print(f"dependency model over\t{model.unit}")
    print(f"conditioning\t{model.conditioning}")
    print(f"bytes\t{model.core.bytes}")
    print(f"{model.unit}\t{len(model)}")
    for side, counts in zip(("left", "right", "root"), model.core.counts, strict=True):
        for n, count in enumerate(counts, 1):
            print(f"{side} {n}-grams\t{count}")
