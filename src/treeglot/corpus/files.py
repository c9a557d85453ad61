"""Declares the files of a parallel corpus in one place.

The command line, recipes, checks and readers are derived from the fields of `Corpus`. The name of a field begins with
its side, and its type defines the content of the file. To add a file, add a field.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_type_hints

from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax.formats import find_format
from treeglot.syntax.lattice import Lattice

if TYPE_CHECKING:
    from treeglot.corpus.pairs import Needs, Pairs

Side: TypeAlias = Literal["source", "target"]

NOUNS = {
    Tree: "trees",
    ParseForest: "forests",
    Dependency: "dependencies",
    Alignment: "alignments",
    Lattice: "lattices",
    list: "text",
}

MORE_LINKS = "more_alignments "  # before the number of such a file, where each file has a name

# What a file may hold, the best first; a tree is a forest with one derivation.
Text = Annotated[Path | None, list]
Links = Annotated[Path | None, Alignment]
MoreLinks = Annotated[tuple[Path, ...], Alignment]
Trees = Annotated[Path | None, Tree]
Forests = Annotated[Path | None, ParseForest, Tree]
Dependencies = Annotated[Path | None, Dependency]


@dataclass(frozen=True)
class SourceFiles(Options):
    """Source sentences and their parses: everything that a model can translate."""

    source: Text = option(None, "tokenised source sentences, one per line")
    source_trees: Trees = option(None, "parses of the source sentences")
    source_forests: Forests = option(None, "packed forests of the source sentences")
    source_dependencies: Dependencies = option(None, "dependencies of the source sentences")

    @classmethod
    def holds(cls, name: str) -> tuple[type[Any], ...]:
        """Return the types of values that a file can contain.

        >>> Corpus.holds("target_trees") == (Tree,)
        True
        """
        return get_args(get_type_hints(cls, include_extras=True)[name])[1:]

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all files that can be given at most once."""
        single = {name for name, kind in get_type_hints(Corpus).items() if kind == Path | None}
        return tuple(f.name for f in dataclasses.fields(cls) if f.name in single)

    def given(self) -> dict[str, Path]:
        """Return the files that the user has given, by name."""
        return {name: path for name in self.names() if (path := getattr(self, name)) is not None}

    def file(self, name: str) -> Path:
        """Return a file by name. It is an error if the file was not given."""
        path: Path | None = getattr(self, name)
        if path is None:
            raise UsageError(f"there is no {option_name(name)}")
        return path

    def expect(self, *names: str, key: tuple[str, ...] = ()) -> None:
        """Raise an error if one of these files is missing. `key` is the place of the table in a recipe."""
        for name in names:
            if getattr(self, name) is None:
                where = f" of [{'.'.join(key)}]" if key else ""
                raise UsageError(f"option {name!r}{where} is missing; expected a path", key)

    def parses(self, side: Side) -> Path | None:
        """Return the file with the parses of a side: forests if there are any, or else trees, or else dependencies."""
        given = self.given()
        return next(
            (given[name] for kind in ("forests", "trees", "dependencies") if (name := f"{side}_{kind}") in given), None
        )


@dataclass(frozen=True)
class Corpus(SourceFiles):
    """The files of a parallel corpus."""

    target: Text = option(None, "tokenised target sentences, one per line")
    alignments: Links = option(None, "word alignments in Pharaoh's format, source-target")
    more_alignments: MoreLinks = option((), "further alignments of the same pairs: their rules are counted, too")
    alignment_weights: tuple[float, ...] = option(
        (), "what rules count under each alignment, in order; default: 1", least=0.005, most=1
    )
    posteriors: Text = option(None, "probabilities of their links, by treeglot align --posteriors: rules count by them")
    target_trees: Trees = option(None, "parses of the target sentences")
    target_dependencies: Dependencies = option(None, "dependencies of the target sentences")

    def __post_init__(self) -> None:
        """Refuse alignment weights without alignments, and posteriors together with several alignments."""
        super().__post_init__()
        found, number = len(self.alignment_weights), 1 + len(self.more_alignments)
        if found and found != number:
            problem = f"there are {found} alignment_weights for {number} alignments; expected one for each"
            raise UsageError(problem, ("alignment_weights",))
        if self.posteriors is not None and self.more_alignments:
            problem = "posteriors are of one alignment, and more_alignments were given; expected one or the other"
            raise UsageError(problem, ("posteriors",))

    @property
    def united(self) -> bool:
        """Whether alignments have weights: there are several alignments, or one with a weight other than 1."""
        return bool(self.more_alignments) or self.alignment_weights not in ((), (1.0,))

    def weighted_alignments(self) -> list[tuple[Path, float]]:
        """Return the alignment files, each with its weight.

        >>> Corpus(alignments=Path("a"), more_alignments=(Path("b"),), alignment_weights=(1, 0.5)).weighted_alignments()
        [(PosixPath('a'), 1), (PosixPath('b'), 0.5)]
        """
        files = [self.file("alignments"), *self.more_alignments]
        return list(zip(files, self.alignment_weights or [1.0] * len(files), strict=True))

    def pairs(self, needs: Needs) -> Pairs:
        """Return the sentence pairs, with the parts that `needs` requests. Each file is read once."""
        from treeglot.corpus.pairs import Pairs

        return Pairs(self, needs)

    def check_formats(self) -> None:
        """Refuse files whose suffix names a format that their field cannot hold."""
        for name, path in self.given().items():
            check_format(name, path, option_name(name))


def check_format(name: str, path: Path, shown: str) -> None:
    """Refuse a file whose suffix names a format that its field cannot hold. Messages call the option `shown`.

    >>> check_format("source_trees", Path("dev.conllu"), "--source-trees")
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: --source-trees dev.conllu: the format conllu holds dependencies, not trees
    """
    if is_parsed(name) and (format := find_format(path)).holds not in (holds := Corpus.holds(name)):
        wanted = " or ".join(NOUNS[each] for each in holds)
        raise UsageError(f"{shown} {path}: the format {format.name} holds {NOUNS[format.holds]}, not {wanted}")


def side_of(name: str) -> str:
    """Return the side of a file in a corpus, as the name of the text file of this side.

    >>> side_of("target_trees")
    'target'
    """
    return name.partition("_")[0]


def is_parsed(name: str) -> bool:
    """Return whether a file of a corpus contains parses. The suffix of these files must name a format.

    >>> is_parsed("source_trees"), is_parsed("source")
    (True, False)
    """
    return name in Corpus.names() and not {list, Alignment} & {*Corpus.holds(name)}


def option_name(file: str) -> str:
    """Return the option of the command line that names a file of a corpus.

    >>> option_name("source_trees")
    '--source-trees'
    """
    return "--" + file.replace("_", "-")
