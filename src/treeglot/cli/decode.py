"""`treeglot decode`: translates with a grammar, a language model and weights from separate files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.decoding import Output, given_weights, run, searched
from treeglot.cli.output import say, shown_warnings, warn
from treeglot.cli.parameters import MappedFile, MaybeText, TextFile, TimeLimit

if TYPE_CHECKING:
    from treeglot.base.errors import FormatError
    from treeglot.decode.translator import Source, Translator
    from treeglot.foreign.weights import Decoder


def decode(
    source: Annotated[TextFile, typer.Argument(help="Tokenised sentences, one per line; - is standard input.")] = Path(
        "-"
    ),
    weights: Annotated[
        Path | None,
        typer.Option(help="The weights, in the format of the grammar's decoder; default: those of --config."),
    ] = None,
    config: Annotated[
        MaybeText,
        typer.Option(
            help="A decoder's configuration: cdec.ini, joshua.config, moses.ini or travatar.ini. What it names need "
            "not be given."
        ),
    ] = None,
    grammar: Annotated[
        list[Path] | None,
        typer.Option(
            help="A grammar as text, or a compiled table; texts may be given again, and need not be where every line "
            'is cdec\'s <seg grammar="FILE">.'
        ),
    ] = None,
    lm: Annotated[MappedFile, typer.Option(help="An n-gram model, ARPA or compiled.")] = None,
    prefix: Annotated[
        list[str] | None,
        typer.Option(
            help="What names of features without names begin with, for each grammar in turn; default: as the "
            "configuration says, or PhraseModel, tm_pt, TranslationModel0."
        ),
    ] = None,
    format: Annotated[
        Literal["cdec", "joshua", "moses", "travatar", "table"] | None,
        typer.Option(
            help="The decoder that grammar and weights are from; table: compiled by treeglot. Default: that of "
            "--config, or cdec."
        ),
    ] = None,
    trees: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The format of trees and forests, for rules of trees, if the input's suffix does not say; default: "
            "brackets.",
            metavar="FORMAT",
        ),
    ] = None,
    output: Output = Output(),  # noqa: B008
    pop_limit: Annotated[
        int | None, typer.Option(help="Hypotheses popped per node; 0: all. Default: as --config says, or 200.")
    ] = None,
    time_limit: TimeLimit = None,
    span_limit: Annotated[int | None, typer.Option(help="Widest span of a rule; default: the other decoder's.")] = None,
    per_source: Annotated[
        int | None, typer.Option(help="Target sides tried for a source side, 0: all; default: the other decoder's.")
    ] = None,
    pass_through: Annotated[
        Literal["none", "unknown", "all"] | None,
        typer.Option(help="Words that may translate to themselves; default: as the other decoder has it."),
    ] = None,
    glue: Annotated[bool, typer.Option(help="Built-in glue rules, S → X and S → S X.")] = True,
    markup: Annotated[bool, typer.Option(help='The input gives translations: <x translation="…">…</x>.')] = False,
    sentence_grammars: Annotated[
        Path | None,
        typer.Option(help='The folder in which <seg grammar="FILE"> may name grammars.', metavar="DIR"),
    ] = None,
) -> None:
    """Translate with a grammar, a language model and weights. They can be files of other decoders, or a compiled table.

    With the files of another decoder, features, scores, limits and unknown words are defined as in that decoder.
    """
    from treeglot.foreign.config import ForeignConfig, decoder_of, read_config
    from treeglot.foreign.system import Files, limits, open_system, read_table, read_weights_of, refuse_for_trees
    from treeglot.foreign.translator import MARKS

    given = {
        "pop_limit": pop_limit,
        "time_limit": time_limit,
        "markup": markup,
        "span_limit": span_limit,
        "per_source": per_source,
    }
    decoder = format or ("cdec" if config is None else decoder_of(config))
    if decoder == "table":
        if pass_through is not None or prefix or not glue or config is not None:
            raise UsageError("--config, --pass-through, --prefix and --no-glue are for files of other decoders")
        run(_own(grammar or [], weights, lm, given), _lines(source)[0], source, output)
        return
    with shown_warnings():
        said = ForeignConfig() if config is None else read_config(config, decoder)
        files = Files(
            decoder,
            tuple(grammar or said.grammars),
            weights or said.weights,
            lm or said.lm,
            tuple(prefix or ()),
            output.skip_bad,
            sentence_grammars,
        )
        foreign = read_weights_of(files, None if config is None else said.settings)
    table = read_table(files, files.grammars, foreign, _left_out)
    say(f"{len(table):,} rules")
    if refuse_for_trees(table, pass_through is not None or markup or not glue):
        sources, own_rules = _trees(source, trees, decoder), False
    elif trees is not None:
        raise UsageError("--from is for rules of trees; these are of strings")
    else:
        sources, own_rules = _lines(source, decoder)
    if not files.grammars and not own_rules:
        raise UsageError("missing option '--grammar' (see treeglot decode --help)")
    translator = open_system(
        files,
        foreign,
        table,
        limits(foreign, given),
        pass_through=pass_through,
        glue=glue and said.glue and (config is None or MARKS.isdisjoint(table.source_words)),
        own_rules=own_rules,
        report=_left_out,
    )
    if output.kbest is None:
        output = replace(output, kbest=said.settings.kbest)
    run(translator, sources, source, replace(output, listed=foreign.listed))


def _lines(source: Path, format: str = "") -> tuple[Iterator[Source], bool]:
    """Return the lines of the input, and whether the first line names its own grammars."""
    from itertools import chain, islice

    from treeglot.base.files import iterate_lines
    from treeglot.foreign.input import input_line

    lines = iterate_lines(source, errors="replace")
    first = list(islice(lines, 1)) if format == "cdec" else []
    return chain(first, lines), any(input_line(line, "cdec").grammars for line in first)


def _trees(source: Path, format: str | None, decoder: Decoder) -> Iterator[Source]:
    """Parse the lines of an input of forests. A line without a forest is returned unchanged, or as an empty text."""
    from treeglot.base.files import iterate_lines, logical_suffix
    from treeglot.corpus.parses import as_forest
    from treeglot.corpus.sources import read_sources
    from treeglot.foreign.input import input_tree
    from treeglot.syntax import ParseForest, Tree
    from treeglot.syntax.formats import Records

    if format is None and logical_suffix(source) in ("", ".txt"):
        for line in iterate_lines(source, errors="replace"):
            found = input_tree(line, decoder)
            yield line if found.problem or found.notes else found.source
        return
    records = read_sources(source, format, ParseForest, Tree, skip_bad=True)
    told = 0
    for value in records:
        if value is None and isinstance(records, Records):
            for problem in records.problems[told:]:
                warn(str(problem))
                told += 1
        forest = value if value is None or isinstance(value, str) else as_forest(value)
        yield "" if forest is None else forest


def _own(
    grammar: list[Path], weights: Path | None, lm: Path | None, given: Mapping[str, float | bool | None]
) -> Translator:
    from treeglot.decode import SearchOptions, Translator
    from treeglot.lm import load_ngram
    from treeglot.rules import open_table

    if weights is None:
        raise UsageError("missing option '--weights' (see treeglot decode --help)")
    if len(grammar) != 1:
        raise UsageError(f"{len(grammar)} grammars were given; expected one compiled table")
    model = load_ngram(lm) if lm is not None else None
    return Translator(open_table(grammar[0]), given_weights(weights), model, searched(SearchOptions(), **given))


def _left_out(error: FormatError) -> None:
    warn(f"{error}; the rule is left out")
