"""`treeglot parse`: parses sentences into forests or trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.machines import open_machines, refuse_with_spark
from treeglot.cli.output import Progress, say, track, warn
from treeglot.cli.parameters import MAPPED, MasterOption, NewFile, Out, TextFile, Where
from treeglot.parse.parser import GrammarParser, Parsed, ParsingOptions

if TYPE_CHECKING:
    from treeglot.base.shards import Machines
    from treeglot.parse.job import ParseShard


def parse(
    model: Annotated[
        str,
        typer.Argument(
            help="The folder of a grammar: trained here, or Berkeley's or Egret's; or ADAPTER:MODEL, another package's "
            "parser: benepar, spacy, stanza, supar or udpipe."
        ),
        MAPPED,
    ],
    text: Annotated[TextFile, typer.Argument(help="Tokenised sentences, one per line; - is standard input.")] = Path(
        "-"
    ),
    also: Annotated[
        list[Path] | None,
        typer.Option(
            help="The folder of another grammar: trees have the greatest product of all posteriors; may be repeated."
        ),
        MAPPED,
    ] = None,
    out: Out = Path("-"),
    to: Annotated[
        str | None,
        typer.Option(
            help="jsonl or egret for forests, brackets for trees, conllu or conllx for dependencies, if the suffix "
            "does not say."
        ),
    ] = None,
    trees: Annotated[bool, typer.Option("--trees", help="Only the best tree of each sentence.")] = False,
    kbest: Annotated[
        int, typer.Option(help="Number of best trees of each sentence, with scores; an empty line ends a list.")
    ] = 0,
    report: Annotated[
        NewFile,
        typer.Option(
            help="Write a table here: line, words, status, log_probability and cut nodes of each sentence. With --also "
            "also the status of each grammar."
        ),
    ] = None,
    level: Annotated[int | None, typer.Option(help="The finest level used; all by default.")] = None,
    options: ParsingOptions = ParsingOptions(),  # noqa: B008
    engine: Where = "local",
    master: MasterOption = "",
) -> None:
    """Parse tokenised sentences into packed forests, their best trees, or another package's parses.

    With --also, several grammars parse together. Their sub-states, rules and some labels can differ, but all roots must
    have the same label.

    Every sentence gets a result. If there is no parse, or if parsing takes too long, the result is a flat tree. At the
    end, the command prints how many sentences have flat trees, and names the first lines. With --report, it describes
    every sentence.
    """
    from treeglot.parse import load_parser
    from treeglot.parse.job import ParseShard, encode_lists
    from treeglot.syntax import write
    from treeglot.syntax.formats import read_text

    if kbest < 0:
        raise UsageError(f"kbest is {kbest}; expected 0 or more")
    if trees and kbest:
        raise UsageError("--trees and --kbest: expected one of them")
    if adapts(model):
        if (
            trees
            or kbest
            or report is not None
            or level is not None
            or also
            or options != ParsingOptions(threads=options.threads)
            or engine != "local"
            or master
        ):
            raise UsageError(f"{model} is another package's parser; expected --out and --to alone")
        _parse_with(model, text, out, to)
        return
    if str(out) == str(report) == "-":
        raise UsageError("--out and --report are both standard output")
    format_name = "" if kbest else _format(out, to, trees)
    if options.criterion != "rules" and format_name != "brackets":
        raise UsageError(f"criterion is {options.criterion!r}, which chooses trees; expected --trees")
    with open_machines(engine, master, options.threads, out) as machines:
        if machines is not None:
            refuse_with_spark(report=report)
            alone = replace(options, threads=1)
            folders = tuple(str(folder.resolve()) for folder in also or ())
            job = ParseShard(str(Path(model).resolve()), alone, level, str(out), format_name, kbest, folders)
            _parse_elsewhere(job, text, options.threads, machines)
            return
    parser = load_parser(model, options, level, also or ())
    _tell_differences(parser)
    parse_all = parser.trees if format_name == "brackets" else parser.forests
    with _reporting(report, bool(parser.also)) as told:
        found = told(track(parse_all(read_text(text)), "parsing", unit="sentences"))
        if kbest:
            _write_lists(out, encode_lists(parser, (parsed.value for parsed in found), kbest))
        else:
            write(out, (parsed.value for parsed in found), format_name)
    _tell(parser)


def _tell(parser: GrammarParser) -> None:
    (warn if parser.cut or parser.counts.keys() - {"parsed", "no_words"} else say)(parser.summary())


def _tell_differences(parser: GrammarParser) -> None:
    if parser.lacking:
        warn(parser.differences())


def _parse_elsewhere(job: ParseShard, text: Path, threads: int, machines: Machines) -> None:
    """Parse the sentences in shards on a cluster."""
    from treeglot.base.shards import RECORDS, in_shards, join, shards_of, state_of
    from treeglot.syntax.formats import read_text

    parser, sentences, out = job.open(), read_text(text), Path(job.out)
    _tell_differences(parser)
    key = state_of(job.model, *job.also)
    with (
        Progress("parsing", unit="sentences") as progress,
        in_shards(job, shards_of(sentences, RECORDS), out, machines, key=key, threads=threads, report=say) as parts,
    ):
        join(parts, out)
        progress.update(sum(part.shard.records for part in parts))
    for part in parts:
        parser.take(**part.facts)
    _tell(parser)


def adapts(model: str) -> bool:
    """Return whether ADAPTER:MODEL names a parser of another package. A folder of that name takes precedence."""
    from treeglot.parse.adapters import ADAPTERS

    return model.partition(":")[0] in ADAPTERS and ":" in model and not Path(model).exists()


def _parse_with(model: str, text: Path, out: Path, to: str | None) -> None:
    """Parse the sentences with a parser of another package."""
    from treeglot.parse.adapters import open_parser
    from treeglot.syntax import Dependency, write
    from treeglot.syntax.formats import find_format, read_text

    adapter, _, name = model.partition(":")
    parser = open_parser(adapter, name)
    known = ("conllu", "conllx") if parser.gives is Dependency else ("brackets",)
    format_name = known[0] if to is None and str(out) == "-" else find_format(out, to).name
    if format_name not in known:
        what = "dependencies" if parser.gives is Dependency else "trees"
        raise UsageError(f"{parser.name} gives {what}; the format is {format_name}, expected {' or '.join(known)}")
    write(out, track(parser.parse(read_text(text)), "parsing", unit="sentences"), format_name)


def _format(out: Path, to: str | None, trees: bool) -> str:
    """Return the requested output format, or the format that the suffix names."""
    from treeglot.syntax.formats import find_format

    if to is None and str(out) == "-":
        to = "brackets" if trees else "jsonl"
    name = find_format(out, to).name
    if trees and name != "brackets":
        raise UsageError(f"--trees gives trees, which the format {name} does not hold")
    if name not in ("brackets", "jsonl", "egret"):
        raise UsageError(f"the format {name} holds neither forests nor trees; expected jsonl, egret, brackets")
    return name


def _write_lists(out: Path, lists: Iterator[bytes]) -> None:
    from treeglot.base.files import Pause, write_binary

    with write_binary(out) as stream:
        for found in lists:
            stream.write(found)
            if Pause.now:
                stream.flush()


@contextmanager
def _reporting(path: Path | None, several: bool) -> Iterator[Callable[[Iterable[Parsed[Any]]], Iterator[Parsed[Any]]]]:
    """Yield the results unchanged, and write a line about each into the report."""
    from treeglot.base.files import write_binary

    if path is None:
        yield iter
        return
    with write_binary(path) as stream:
        names = ("line", "words", "status", "log_probability", "cut", *(["each"] if several else []))
        stream.write("\t".join(names).encode() + b"\n")

        def told(found: Iterable[Parsed[Any]]) -> Iterator[Parsed[Any]]:
            for line, parsed in enumerate(found, 1):
                p = f"{parsed.log_probability:.6f}" if parsed.has_parse else ""
                cells: list[object] = [line, len(parsed.value.words), parsed.status, p, parsed.cut]
                cells += [",".join(parsed.each)] if several else []
                stream.write(("\t".join(map(str, cells)) + "\n").encode())
                yield parsed

        yield told
