"""`treeglot lattice`: writes lattices of sentences, with variants of words that a model does not know."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say
from treeglot.cli.parameters import ModelFolder, Out, TextFile
from treeglot.text.variants import VariantOptions

if TYPE_CHECKING:
    from treeglot.models import Model
    from treeglot.syntax.lattice import Lattice


def lattice(
    model: ModelFolder,
    options: VariantOptions,
    source: Annotated[
        TextFile, typer.Argument(help="Sentences, one per line, or forests; - is standard input.")
    ] = Path("-"),
    out: Out = Path("-"),
) -> None:
    """Turn sentences into lattices with variants of unknown words.

    A variant consists of words that the model knows. It can be the word in another case, the parts of a compound, or
    the word joined with its neighbour.
    """
    from treeglot.models import load
    from treeglot.syntax import write

    loaded = load(model)
    if loaded.reader.kind.parses and not loaded.reader.kind.forests:
        raise UsageError(f"a {loaded.kind} model takes no lattices; expected one of sentences or of forests")
    loaded.need_table("lattices")
    counts = {"sentences": 0, "changed": 0}
    write(out, _lattices(loaded, source, options, counts), "lattice")
    say(f"{counts['sentences']:,} sentences, {counts['changed']:,} with variants")


def _lattices(model: Model, source: Path, options: VariantOptions, counts: dict[str, int]) -> Iterator[Lattice]:
    from treeglot.syntax import ParseForest
    from treeglot.text.variants import word_lattice

    reader = model.reader
    vocabulary = frozenset(model.translator.table.source_words)

    @cache
    def known(word: str) -> bool:
        return all(each in vocabulary for each in reader.words([[word]])[0])

    for given in model.read(source):
        if isinstance(given, ParseForest):
            words = given.words
        elif not isinstance(given, str):
            raise UsageError(f"{source} has lattices; expected sentences or forests")
        elif reader.text is not None:
            words = reader.text.source.tokenise([given])[0].words
        else:
            words = reader.words([given])[0]
        made = word_lattice(words, known, options)
        counts["sentences"] += 1
        counts["changed"] += len(made) > len(words)
        yield made
