"""`treeglot show`: draws the trees, forests, dependencies or alignments of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.cli.parameters import FILE, STREAMED
from treeglot.cli.screen import Colour, Width, screen
from treeglot.syntax import FORMATS

if TYPE_CHECKING:
    from treeglot.syntax.formats.format import Format

NAMES = ", ".join(FORMATS)

Words = list[str]

ONE = {"trees": "tree", "forests": "forest", "dependencies": "dependency tree", "alignments": "alignment"}
END = 1 << 62  # the last number of a range without an end


def show(
    file: Annotated[
        str,
        STREAMED,
        typer.Argument(help="Trees, forests, dependencies or alignments; - is standard input."),
    ],
    index: Annotated[str, typer.Option(help="Which of them, counted from 1: 7, 7-9 or 7-.", metavar="N")] = "1",
    line: Annotated[int | None, typer.Option(help="The one at this line of the file instead.", min=1, max=END)] = None,
    format: Annotated[str | None, typer.Option(help=f"Its format, if its suffix does not say: {NAMES}.")] = None,
    source: Annotated[
        str | None, STREAMED, typer.Option(help="Source sentences of alignments: text or parses.")
    ] = None,
    target: Annotated[str | None, STREAMED, typer.Option(help="Target sentences of alignments.")] = None,
    svg: Annotated[str | None, typer.Option(help="Draw into this SVG file.", metavar="OUT"), FILE] = None,
    html: Annotated[str | None, typer.Option(help="Draw into this HTML page.", metavar="OUT"), FILE] = None,
    layout: Annotated[
        Literal["auto", "across", "down"], typer.Option(help="Across the screen, down it, or across if it fits.")
    ] = "auto",
    limit: Annotated[int | None, typer.Option(help="The most nodes, words or edges to draw.", min=1)] = None,
    width: Width = None,
    colour: Colour = None,
) -> None:
    """Draw trees, forests, dependency trees or alignments in the terminal, as SVG or as HTML."""
    from treeglot.base.files import write_binary
    from treeglot.syntax import Alignment, draw
    from treeglot.syntax.convert import NOUNS
    from treeglot.syntax.formats import find_format
    from treeglot.syntax.lattice import Lattice

    chosen = find_format(file, format)
    noun = NOUNS[chosen.holds]
    one = ONE.get(noun, "")
    if chosen.holds in (list, Lattice):
        raise UsageError(f"{file} holds {noun}, in which there is nothing to draw")
    if (source or target) and chosen.holds is not Alignment:
        raise UsageError(f"--source and --target are for alignments; {file} holds {noun}")
    first, last = index_range(index) if line is None else (_index_of_line(file, chosen, line),) * 2
    if svg and (html or first != last):
        raise UsageError("an SVG file holds one drawing: give one number and no --html")

    selected = _selected(file, chosen, first, last, source, target)
    if svg:
        ((_, drawing),) = _drawn(file, selected, partial(draw.to_svg, limit=limit))
        with write_binary(svg) as stream:
            stream.write(drawing.encode())
    elif html:
        drawings = list(_drawn(file, selected, partial(draw.to_html, limit=limit)))
        with write_binary(html) as stream:
            stream.write(draw.page(file, ((f"{one} {n}", drawing) for n, drawing in drawings)).encode())
    else:
        to_text = partial(draw.to_text, screen=screen(width, colour), layout=layout, limit=limit)
        for number, drawing in _drawn(file, selected, to_text):
            if first != last:
                print(f"{one} {number}")
            print(drawing)


def _selected(
    file: str, format: Format[Any], first: int, last: int, source: str | None, target: str | None
) -> Iterator[tuple[int, Any, dict[str, Words]]]:
    """Yield the values from `first` to `last` with their numbers. An alignment comes with its sentences' words."""
    from treeglot.syntax import read
    from treeglot.syntax.convert import NOUNS

    sides = {"source": _sentences(source, first), "target": _sentences(target, first)}
    number = 0
    for number, value in enumerate(islice(read(file, format.name), last), start=1):
        if number >= first:
            words = {side: next(sentences) for side, sentences in sides.items()}
            yield number, value, {side: sentence for side, sentence in words.items() if sentence is not None}
    if number < first or (number < last != END):
        missing = max(first, number + 1)
        raise TreeglotError(f"{file} holds {number:,} {NOUNS[format.holds]}: there is no number {missing:,}")


def _drawn(
    file: str, selected: Iterator[tuple[int, Any, dict[str, Words]]], draw: Callable[..., str]
) -> Iterator[tuple[int, str]]:
    for number, value, words in selected:
        try:
            yield number, draw(value, **words)
        except (ValueError, TreeglotError) as error:
            raise TreeglotError(f"{file}: number {number}: {error}") from error


def index_range(index: str) -> tuple[int, int]:
    """Parse a range such as `7`, `7-9` or `7-`.

    Return its first and last number. Without an end, the last is very large.

    >>> index_range("7-9")
    (7, 9)
    """
    match = re.fullmatch(r"(\d{1,18})(-(\d{0,18}))?", index)
    first = int(match[1]) if match else 0
    last = first if not match or not match[2] else int(match[3] or END)
    if not 1 <= first <= last:
        raise UsageError(f"--index {index}: expected a number from 1 on, or a range such as 7-9 or 7-")
    return first, last


def _index_of_line(file: str, format: Format[Any], line: int) -> int:
    """Return the number of the record that a line belongs to."""
    from treeglot.base.files import read_chunks

    if file == "-":
        raise UsageError("--line reads FILE twice, which standard input does not allow; --index reads it once")
    reader = format.open_reader(file, False, {})
    complete, before = 0, line - 1
    for chunk in read_chunks(file):
        lines = chunk.split(b"\n", before)
        if len(lines) > before:
            return 1 + complete + len(reader.feed(chunk[: len(chunk) - len(lines[before])]))
        complete += len(reader.feed(chunk))
        before -= len(lines) - 1
    raise TreeglotError(f"{file} has {line - 1 - before:,} lines: there is no line {line:,}")


def _sentences(path: str | None, first: int) -> Iterator[Words | None]:
    """Yield the words of the sentences of a file, from number `first` on. Without a file, yield None."""
    from treeglot.syntax import Alignment, read
    from treeglot.syntax.formats import find_format, read_text

    while path is None:
        yield None
    try:
        holds = find_format(path).holds
    except UsageError:
        values: Iterator[Any] = read_text(path)
    else:
        if holds is Alignment:
            raise UsageError(f"{path} holds alignments; expected text or parses")
        values = read(path)
    number = first
    for value in islice(values, first - 1, None):
        yield value if isinstance(value, list) else value.words
        number += 1
    raise TreeglotError(f"{path} has no sentence {number:,}")
