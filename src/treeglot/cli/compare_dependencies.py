"""`treeglot compare-dependencies`: how analyses of one text agree, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.cli.output import say, shown_warnings
from treeglot.cli.parameters import FILE

if TYPE_CHECKING:
    from treeglot.syntax import Dependency


def compare_dependencies(
    analyses: Annotated[
        list[str],
        typer.Argument(help="Dependencies or trees of one text: FILE or NAME=FILE.", metavar="FILE..."),
    ],
    gold: Annotated[Path | None, typer.Option(help="Gold trees of the sentences, or of the first ones.")] = None,
    text: Annotated[Path | None, typer.Option(help="The sentences; analyses of other words are refused.")] = None,
    heads: Annotated[str, typer.Option(help="Head table that makes dependencies of trees.")] = "english",
    style: Annotated[str, typer.Option(help="Where these depart from it: johansson-nugues, content, …")] = "table",
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model trained on an analysis; may be given again.", metavar="NAME=DIR"),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(help="What models translate, for BLEU; may be given again: dev, test.", metavar="SOURCE=REF"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with heat maps and tables."), FILE] = None,
    threads: Annotated[int, typer.Option(help="Threads that translate.", metavar="N")] = 1,
) -> None:
    """Compare dependencies that several parsers gave one text.

    Prints for every pair the share of sentences with the same root and of words with the same head; for each analysis
    precision and recall against gold trees, trees that are none (several roots, cycles, crossing arcs), and with models
    their numbers of rules and BLEU.
    """
    from treeglot.evaluate import dependency_page as pages
    from treeglot.evaluate.dependencies import compare_dependencies as compare

    if test and not model:
        raise UsageError("--test is what models translate; no --model was given")
    named = _named(analyses, "analysis", stems=True)
    with shown_warnings():
        read = {name: _read(path, heads, style) for name, path in named.items()}
    if text is not None:
        from treeglot.syntax.formats import read_text

        lines = list(read_text(text))
        for name, path in named.items():
            _check_words(path, read[name], lines, str(text))
    found = compare(read, _read(str(gold), heads, style) if gold is not None else None)
    more: dict[str, dict[str, str]] = {}
    models = _named(model or [], "model")
    for name in models:
        if name not in named:
            raise UsageError(f"--model {name}=…: no analysis has that name; they are {', '.join(named)}")
    if models:
        more = _rules(models) | _bleu(models, _named(test or [], "test"), threads)
    if html is not None:
        from treeglot.base.files import write_binary

        with write_binary(html) as stream:
            stream.write(pages.as_page(found, more).encode())
        say(f"wrote {html}")
    print(pages.as_json(found, more) if json else pages.as_text(found, more))


def _named(given: Sequence[str], what: str, stems: bool = False) -> dict[str, str]:
    out: dict[str, str] = {}
    for item in given:
        name, equals, path = item.partition("=")
        if not equals:
            if not stems:
                raise UsageError(f"--{what} {item!r} has no =")
            name, path = Path(item).name.split(".")[0], item
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


def _rules(models: dict[str, str]) -> dict[str, dict[str, str]]:
    import duckdb

    from treeglot.rules.columns import reading

    flat, hierarchical = {}, {}
    for name, folder in models.items():
        path = Path(folder) / "rules.parquet"
        if not path.is_file():
            raise FormatError(folder, 0, "has no rules.parquet: it is no model, or its rules were taken away")
        query = "select count(*) filter (source not like '%[X,%'), count(*) from read_parquet(?)"
        with reading(path):
            [(words, every)] = duckdb.execute(query, [str(path)]).fetchall()
        flat[name], hierarchical[name] = f"{words:,}", f"{every - words:,}"
    return {"flat rules": flat, "hierarchical rules": hierarchical}


def _bleu(models: dict[str, str], tests: dict[str, str], threads: int) -> dict[str, dict[str, str]]:
    from treeglot.base.files import read_lines
    from treeglot.evaluate import Bleu
    from treeglot.models import load

    columns: dict[str, dict[str, str]] = {f"BLEU {Path(source).stem}": {} for source in tests}
    for name, folder in models.items():
        loaded = load(folder)
        for source, reference in tests.items():
            found = [one.text for one in loaded.translate_batch(loaded.read(source), threads=threads)]
            score = Bleu().score(Bleu().statistics(found, [read_lines(reference)]))
            columns[f"BLEU {Path(source).stem}"][name] = f"{score:.2f}"
    return columns
