"""A model is a folder: `model.toml`, the rule table, the language model, the weights.

    model.toml      kind, search options, and the names of the files below
    rules.table     the compiled rules
    lm.bin          the compiled n-gram model
    weights.txt     a line `name value` for each feature

Every file is complete when it appears under its name; `model.toml` is written last. A new model for the folder comes
as the complete folder `.next` in it, whose files are then moved in. Whoever opens the model ends what was interrupted.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from treeglot import _core
from treeglot.base.errors import FormatError, OptionError, UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import Options, in_file, load_options, option, required
from treeglot.base.toml import format_value
from treeglot.decode import SearchOptions, Translation, Translator
from treeglot.decode.translator import Source
from treeglot.decode.weights import read_weights, write_weights
from treeglot.models.artefacts import load_artefacts
from treeglot.models.kinds import find_kind

NEXT = ".next"


@dataclass(frozen=True)
class ModelFile(Options):
    """What `model.toml` says."""

    kind: str = required("the kind of model, such as hiero")
    rules: str = option("rules.table", "the compiled rule table")
    lm: str = option("lm.bin", "the compiled n-gram model; empty: none")
    weights: str = option("weights.txt", "the weights of the features")
    search: SearchOptions = option(SearchOptions(), "how to search unless told otherwise")

    def __post_init__(self) -> None:
        """Refuses files elsewhere: a model that comes from elsewhere opens nothing but its own."""
        super().__post_init__()
        for name in ("rules", "lm", "weights"):
            path = Path(getattr(self, name))
            if path.is_absolute() or ".." in path.parts or "\0" in str(path):
                raise OptionError(f"{name} is {str(path)!r}; expected a file in the model's folder", (name,))


class Model:
    """A trained model, ready to translate."""

    def __init__(self, directory: Path, file: ModelFile, translator: Translator) -> None:
        self.directory = directory
        self.kind = file.kind
        self.file = file
        self.translator = translator

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of the features."""
        return self.translator.weights

    def read(self, path: PathLike, format: str | None = None) -> Iterator[Source]:
        """What the model translates, from a file: lines, forests or dependency trees, as its kind wants them.

        Its suffix says which, or `format` by name.
        """
        return find_kind(self.kind).read(Path(path), format)

    def translate(self, source: Source) -> Translation:
        """Translate one sentence: its tokens separated by blanks, or what a parser made of it."""
        return self.translator.translate(source)

    def translate_batch(
        self, sources: Iterable[Source], kbest: int = 1, distinct: bool = False, threads: int = 1
    ) -> list[Translation]:
        """Translate sentences; the result is the same for any number of threads."""
        return self.translator.translate_batch(sources, kbest, distinct, threads)

    def with_weights(self, weights: Mapping[str, float]) -> Model:
        """The same model with other weights: tables and language models are shared."""
        return Model(self.directory, self.file, self.translator.with_weights(weights))

    def with_search(self, options: SearchOptions) -> Model:
        """The same model, searched otherwise."""
        return Model(self.directory, self.file, self.translator.with_search(options))

    def _repr_html_(self) -> str:
        from treeglot.syntax.draw.bars import html_table

        weights = sorted(self.weights.items(), key=lambda weight: (-abs(weight[1]), weight[0]))
        rows = [["kind", self.kind], ["rules", f"{len(self.translator.table):,}"], ["features", f"{len(weights):,}"]]
        shown = [[name, f"{value:.4g}"] for name, value in weights[:20]]
        title = f"<h4>{escape(os.fspath(self.directory))}</h4>"
        return title + html_table([["model", ""], *rows]) + html_table([["largest weights", ""], *shown])

    def __repr__(self) -> str:
        return f"Model({os.fspath(self.directory)!r}, kind={self.kind!r}, rules={len(self.translator.table):,})"


def load(directory: PathLike) -> Model:
    """Load a model from its folder."""
    from treeglot.lm import load_ngram

    folder = Path(directory)
    move_in(folder)
    path = folder / "model.toml"
    if not path.is_file():
        raise FormatError(os.fspath(folder), 0, "is not a model: it has no model.toml")
    file = load_options(ModelFile, path)
    try:
        kind = find_kind(file.kind)
    except UsageError as error:
        raise FormatError(os.fspath(path), 0, str(error)) from error
    rules, lm, weights = (_inside(folder, name, getattr(file, name)) for name in ("rules", "lm", "weights"))
    ngram = load_ngram(lm) if file.lm else None
    table = _core.RuleTable.open(os.fspath(rules))
    setup = kind.matcher(*load_artefacts(folder, kind.source_heads, kind.dependency_models))
    return Model(folder, file, Translator(table, read_weights(weights), ngram, file.search, setup))


def _inside(folder: Path, option: str, name: str) -> Path:
    """The file that an option of `model.toml` names; a link must not lead out of the folder."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        problem = f"{option} is {name!r}, a link that leads out of it; expected a file in the model's folder"
        raise in_file(folder / "model.toml", UsageError(problem, (option,)))
    return path


def move_in(folder: Path) -> None:
    """Move in the new model that waits in a folder, if there is one; what an interruption left is done by the next.

    `model.toml` goes first and comes last, so that no two models mix.
    """
    try:
        new = os.open(folder / NEXT, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(new, fcntl.LOCK_EX)
        names = sorted(os.listdir(new), key=lambda name: name == "model.toml")  # noqa: PTH208 - another may move it in
        if "model.toml" in names:
            (folder / "model.toml").unlink(missing_ok=True)
        for name in names:
            os.replace(name, folder / name, src_dir_fd=new)
        with suppress(OSError):  # another process has done it
            (folder / NEXT).rmdir()
    finally:
        os.close(new)


def write_model(directory: PathLike, kind: str, weights: Mapping[str, float], search: SearchOptions) -> None:
    """Write `weights.txt` and, last, `model.toml` beside the tables that are there already."""
    folder = Path(directory)
    write_weights(folder / "weights.txt", weights)
    lines = [f'kind = "{kind}"', "", "[search]"]
    lines += [f"{name} = {format_value(value)}" for name, value in asdict(search).items()]
    with write_binary(folder / "model.toml") as stream:
        stream.write(("\n".join(lines) + "\n").encode())
