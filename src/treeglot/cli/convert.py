"""`treeglot convert`: converts files between formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.cli.output import say, shown_warnings, track, warn
from treeglot.cli.parameters import FILE, STREAMED, MaybeText, set_values
from treeglot.syntax import FORMATS, Dependency, Tree
from treeglot.syntax.convert import ConvertOptions
from treeglot.syntax.formats import READ_ONLY

NAMES = ", ".join(FORMATS)
READ = ", ".join([*FORMATS, *READ_ONLY])


def convert(
    input: Annotated[str, STREAMED, typer.Argument(help="What to read; - is standard input.", metavar="IN")],
    output: Annotated[str, typer.Argument(help="What to write; - is standard output.", metavar="OUT"), FILE],
    options: ConvertOptions,
    from_: Annotated[
        str | None,
        typer.Option("--from", help=f"The format of IN, if its suffix does not say: {READ}.", metavar="FORMAT"),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="OUT's format, if its suffix does not say.", metavar="FORMAT")
    ] = None,
    read_options: Annotated[
        list[str] | None,
        typer.Option("--read", help="An option of IN's format: tags, keep_suffix, heads …", metavar="NAME=VALUE"),
    ] = None,
    write_options: Annotated[
        list[str] | None, typer.Option("--write", help="An option of OUT's format: tags.", metavar="NAME=VALUE")
    ] = None,
    text: Annotated[
        MaybeText,
        typer.Option(help="The sentences of the dependencies; a failed parse gets their words, without heads."),
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out bad records, and say how many.")] = False,
) -> None:
    """Convert trees, forests, dependencies, alignments or text to another format that can hold them.

    The suffixes of the files name their formats; .gz, .xz and .zst are ignored. A forest becomes its best tree, and a
    tree becomes a forest of one tree. A head table converts both to dependencies. Everything except alignments can
    become text.
    """
    from treeglot.syntax import read, write
    from treeglot.syntax.convert import NOUNS
    from treeglot.syntax.convert import convert as convert_values
    from treeglot.syntax.formats import find_format

    source, target = find_format(input, from_), find_format(output, to)
    if target.name == "egret" and options.scores is None:
        options = replace(options, scores="posterior")
        if source.holds is target.holds and source.name != "egret":
            say("scores are written as posteriors: Egret's format has no others")
    if skip_bad and source.holds is Tree and options.kbest > 1:
        raise UsageError("--skip-bad would move trees from one list of --kbest into the next")
    if text is not None and target.holds is not Dependency:
        raise UsageError(f"--text is for dependencies; {target.name} holds {NOUNS[target.holds]}")
    if text is not None and skip_bad:
        raise UsageError("--skip-bad would move dependencies away from the sentences of --text")
    records = read(input, source.name, skip_bad=skip_bad, **set_values(read_options))
    values = convert_values(records, source.holds, target.holds, options)
    if text is not None:
        _refuse_blank(text, target.name)
        values = _over(values, input, text)
    parsed = WithWords(values)
    if skip_bad and target.holds is Dependency:  # CoNLL has no way to write a sentence without words: a failed parse
        values = iter(parsed)
    with shown_warnings():
        write(output, track(values, "converting", unit=NOUNS[target.holds]), target.name, **set_values(write_options))
    if records.skipped:
        first = records.problems[0]
        warn(f"{records.skipped:,} bad records were left out, the first: {first}")
    if parsed.empty:
        warn(f"{parsed.empty:,} sentences without words were left out: {target.name} cannot hold them")


def _refuse_blank(text: Path, format: str) -> None:
    """Refuse a text that contains blank lines, because the output would skip them."""
    from treeglot.syntax.formats import read_text

    for number, words in enumerate(read_text(text), 1):
        if not words:
            problem = f"a blank line; {format} cannot hold a sentence without words, and leaving one out (--skip-bad)"
            raise FormatError(str(text), number, f"{problem} would move all after it")


def _over(trees: Iterable[Dependency], file: str, text: Path) -> Iterator[Dependency]:
    """Pair dependencies with the sentences of a text. A failed parse becomes its sentence's words without heads."""
    from treeglot.syntax.formats import read_text
    from treeglot.syntax.same_words import difference

    for number, (tree, words) in enumerate(zip_longest(trees, read_text(text)), 1):
        if words is None or tree is None:
            more, fewer = (file, text) if words is None else (text, file)
            raise FormatError(str(fewer), 0, f"has {number - 1} sentences; {more} has more")
        if len(tree) and (problem := difference(tree.words, words, str(text))):
            raise FormatError(file, 0, f"sentence {number}: {problem}")
        yield tree if len(tree) else Dependency(words, [Dependency.NO_HEAD] * len(words))


class WithWords:
    """Yields the dependencies that have words, and counts those without words."""

    def __init__(self, values: Iterable[Dependency]) -> None:
        self.values = values
        self.empty = 0

    def __iter__(self) -> Iterator[Dependency]:
        for value in self.values:
            if len(value):
                yield value
            else:
                self.empty += 1
