"""`treeglot compare-dependencies`: compares several analyses of the same text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.storage import without_query
from treeglot.cli.output import say, show_data, shown_warnings
from treeglot.cli.parameters import STREAMED, MaybeText, NewFile, split_named

if TYPE_CHECKING:
    from treeglot.syntax import Dependency


def compare_dependencies(
    analyses: Annotated[
        list[str],
        STREAMED,
        typer.Argument(help="Dependencies or trees of one text: FILE or NAME=FILE.", metavar="FILE..."),
    ],
    gold: Annotated[MaybeText, typer.Option(help="Gold trees of the sentences, or of the first ones.")] = None,
    text: Annotated[MaybeText, typer.Option(help="The sentences; analyses of other words are refused.")] = None,
    heads: Annotated[str, typer.Option(help="Head table that makes dependencies of trees.")] = "english",
    style: Annotated[str, typer.Option(help="Style of these dependencies: johansson-nugues, content, …")] = "table",
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    html: Annotated[NewFile, typer.Option(help="Write a page with heat maps and tables.")] = None,
) -> None:
    """Compare the dependencies that several parsers found in the same text.

    For every pair of analyses, the command prints how many sentences have the same root, and how many words have the
    same head. For each analysis, it prints precision and recall against gold trees, and the number of invalid trees
    (several roots, cycles, crossing arcs). Recipes compare models that are trained on the analyses.
    """
    from treeglot.evaluate import dependency_page as pages
    from treeglot.evaluate.dependencies import compare_dependencies as compare

    named = _named(analyses)
    with shown_warnings():
        read = {name: _read(path, heads, style) for name, path in named.items()}
    if text is not None:
        from treeglot.syntax.formats import read_text

        lines = list(read_text(text))
        for name, path in named.items():
            _check_words(path, read[name], lines, str(text))
    found = compare(read, _read(str(gold), heads, style) if gold is not None else None)
    if html is not None:
        from treeglot.base.files import write_binary

        with write_binary(html) as stream:
            stream.write(pages.as_page(found).encode())
        say(f"wrote {html}")
    show_data(pages.as_json(found) if json else pages.as_text(found))


def _named(given: Sequence[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for item in given:
        name, path = split_named(item)
        if path == item:
            name = Path(without_query(item)).name.split(".")[0]
        if not name or not path:
            raise UsageError(f"{item!r} has no {'file' if name else 'name'}; expected NAME=FILE")
        if name in out:
            raise UsageError(f"two are called {name!r}: give them names, NAME=FILE")
        out[name] = path
    return out


def _read(path: str, heads: str, style: str) -> list[Dependency]:
    from treeglot.syntax import Dependency, read
    from treeglot.syntax.convert import ConvertOptions, convert
    from treeglot.syntax.formats import find_format

    holds = find_format(path).holds
    if holds is Dependency:
        return list(read(path))
    return list(convert(read(path), holds, Dependency, ConvertOptions(heads=heads, style=style)))


def _check_words(path: str, trees: Sequence[Dependency], lines: Sequence[list[str]], text: str) -> None:
    from treeglot.syntax.same_words import difference

    if len(trees) != len(lines):
        raise FormatError(path, 0, f"has {len(trees)} sentences; expected {len(lines)}, as {text} has")
    for number, (tree, words) in enumerate(zip(trees, lines, strict=True), 1):
        if len(tree) and (problem := difference(tree.words, words, text)):
            raise FormatError(path, 0, f"sentence {number}: {problem}")
