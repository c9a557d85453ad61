"""`treeglot decode`: sentences with a grammar, a language model and weights, of this or of other decoders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.decoding import (
    AnyTranslator,
    AsJson,
    Distinct,
    Forest,
    Html,
    Kbest,
    Margin,
    Markup,
    Out,
    Output,
    Svg,
    Threads,
    Time,
    Trace,
    given_weights,
    run,
    searched,
)
from treeglot.cli.output import say, warn

if TYPE_CHECKING:
    from treeglot._core import RuleTable
    from treeglot.base.errors import FormatError
    from treeglot.decode import SearchOptions, Source
    from treeglot.lm import NgramModel

ForeignFormat: TypeAlias = Literal["cdec", "joshua", "moses", "travatar"]

# Features without names, of grammars that have their own owner or number; cdec has one name for all grammars.
OWNERS = {"joshua": r"(tm_.+)_\d+", "moses": r"(TranslationModel\d+)(?:_\d+)?"}


def decode(
    source: Annotated[Path, typer.Argument(help="Tokenised sentences, one a line; - is standard input.")] = Path("-"),
    weights: Annotated[
        Path | None,
        typer.Option(help="The weights, as the grammar's decoder has them; may be what --config names."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="cdec's configuration: features that are on, limits, grammars and language model."),
    ] = None,
    grammar: Annotated[
        list[Path] | None,
        typer.Option(
            help="A grammar as text, or a compiled table; texts may be given again, and need not be where every line "
            'is cdec\'s <seg grammar="FILE">.'
        ),
    ] = None,
    lm: Annotated[Path | None, typer.Option(help="An n-gram model, ARPA or compiled.")] = None,
    prefix: Annotated[
        list[str] | None,
        typer.Option(
            help="What names of features without names begin with, for each grammar in turn; default: as the "
            "configuration says, or PhraseModel, tm_pt, TranslationModel0."
        ),
    ] = None,
    format: Annotated[
        Literal["cdec", "joshua", "moses", "travatar", "table"],
        typer.Option(help="Whose grammar and weights they are; table: compiled by treeglot, with its weights."),
    ] = "cdec",
    trees: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The format of trees and forests, for rules of trees, if the input's suffix does not say; default: "
            "brackets.",
            metavar="FORMAT",
        ),
    ] = None,
    out: Out = Path("-"),
    kbest: Kbest = 0,
    distinct: Distinct = True,
    as_json: AsJson = False,
    trace: Trace = False,
    forest: Forest = None,
    margin: Margin = None,
    html: Html = None,
    svg: Svg = None,
    time: Time = False,
    threads: Threads = 1,
    pop_limit: Annotated[int, typer.Option(help="Hypotheses scored per node; 0: all.")] = 200,
    span_limit: Annotated[int | None, typer.Option(help="Widest span of a rule; default: the other decoder's.")] = None,
    per_source: Annotated[
        int | None, typer.Option(help="Target sides tried for a source side, 0: all; default: the other decoder's.")
    ] = None,
    pass_through: Annotated[
        Literal["none", "unknown", "all"] | None,
        typer.Option(help="Words that may translate to themselves; default: as the other decoder has it."),
    ] = None,
    glue: Annotated[bool, typer.Option(help="Built-in glue rules, S → X and S → S X.")] = True,
    markup: Markup = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rules out, and say how many.")] = False,
) -> None:
    """Translate with a grammar, a language model and weights: those of other decoders, or a compiled table.

    With grammars of other decoders everything is as these define it: features, scores, limits, words that pass through.
    """
    from dataclasses import replace

    from treeglot.decode import SearchOptions
    from treeglot.foreign import ForeignTranslator, read_cdec_config, read_foreign_weights
    from treeglot.foreign.translator import search_options, translates_trees
    from treeglot.lm import load as load_lm

    if config is not None and format != "cdec":
        raise UsageError("--config is for cdec; expected joshua.config or moses.ini as --weights")
    said = read_cdec_config(config) if config is not None else None
    if said is not None:
        weights, lm, glue = weights or said.weights, lm or said.lm, glue and said.glue
    if weights is None:
        raise UsageError("missing option '--weights' (see treeglot decode --help)")
    foreign = None if format == "table" else read_foreign_weights(weights, format)
    if foreign is not None and said is not None:
        foreign = replace(foreign, settings=said.settings)
    options = SearchOptions() if foreign is None else search_options(foreign)
    options = searched(options, pop_limit=pop_limit, markup=markup, span_limit=span_limit, per_source=per_source)
    model = load_lm(lm) if lm is not None else None
    given = grammar or list(said.grammars if said is not None else ())
    translator: AnyTranslator
    show = None
    if format == "table" or foreign is None:
        if pass_through is not None or prefix or not glue:
            raise UsageError("--pass-through, --prefix and --no-glue are for grammars of other decoders")
        translator = _own(given, weights, model, options)
        sources = _lines(source)[0]
    else:
        prefixes = prefix or foreign.settings.prefixes
        table = _read(given, format, prefixes, skip_bad)
        if translates_trees(table):
            if pass_through is not None or markup or not glue:
                raise UsageError("--pass-through, --no-glue and --markup are for rules of strings; these are of trees")
            sources, own_rules = _trees(source, trees, format), False
        elif trees is not None:
            raise UsageError("--from is for rules of trees; these are of strings")
        else:
            sources, own_rules = _lines(source, format)
        if not given and not own_rules:
            raise UsageError("missing option '--grammar' (see treeglot decode --help)")
        translator = ForeignTranslator(
            table,
            foreign,
            model,
            options,
            pass_through=pass_through,
            glue=glue,
            tables=lambda own: _table([*given, *own], format, prefixes, skip_bad),
            own_rules=own_rules,
        )
        _check_owners(len(given), prefixes, format, translator.unknown_weights)
        if format == "joshua" and "PhrasePenalty" in foreign.weights and len(set(prefixes[: len(given)])) > 1:
            raise UsageError("PhrasePenalty counts the rules of one owner: it cannot be had for grammars of several")
        show = foreign.listed
    output = Output(out, kbest, distinct, as_json, trace, time, threads, forest, margin, html, svg, listed=show)
    run(translator, sources, source, output)


def _lines(source: Path, format: str = "") -> tuple[Iterator[Source], bool]:
    """The lines, and whether the first brings grammars along."""
    from itertools import chain, islice

    from treeglot.base.files import iterate_lines
    from treeglot.foreign.input import input_line

    lines = iterate_lines(source, errors="replace")
    first = list(islice(lines, 1)) if format == "cdec" else []
    return chain(first, lines), any(input_line(line, "cdec").grammars for line in first)


def _trees(source: Path, format: str | None, decoder: ForeignFormat) -> Iterator[Source]:
    """Forests; a line, or nothing, where there is none."""
    from treeglot.base.files import iterate_lines, logical_suffix
    from treeglot.corpus import as_forest
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


def _own(grammar: list[Path], weights: Path, lm: NgramModel | None, options: SearchOptions) -> AnyTranslator:
    from treeglot.decode import Translator
    from treeglot.rules import open_table

    if len(grammar) != 1:
        raise UsageError(f"{len(grammar)} grammars were given; expected one compiled table")
    return Translator(open_table(grammar[0]), given_weights(weights), lm, options)


def _check_owners(grammars: int, prefixes: Sequence[str], format: str, unknown: list[str]) -> None:
    """Refuse grammars that share names of features only by default, where weights are for a grammar of other names.

    Without this the features of a glue grammar would have the weights of the rules.
    """
    from treeglot.foreign.grammar import PREFIXES

    default = PREFIXES[format]
    shared = [*prefixes, *[default] * (grammars - len(prefixes))][:grammars].count(default)
    if len(prefixes) >= grammars or shared < 2 or format not in OWNERS:
        return
    for name in unknown:
        if owner := re.fullmatch(OWNERS[format], name):
            raise UsageError(
                f"the weights name {name!r}, which no grammar has: {shared} of the grammars have {default}; expected "
                f"--prefix for each grammar in turn, such as --prefix {default} --prefix {owner[1]}"
            )


def _read(grammar: list[Path], format: ForeignFormat, prefix: Sequence[str], skip_bad: bool) -> RuleTable:
    table = _table(grammar, format, prefix, skip_bad)
    say(f"{len(table):,} rules")
    return table


def _table(grammar: Sequence[str | Path], format: ForeignFormat, prefix: Sequence[str], skip_bad: bool) -> RuleTable:
    from treeglot.foreign import read_grammar

    def report(error: FormatError) -> None:
        warn(f"{error}; the rule is left out")

    return read_grammar(list(grammar), format, prefix=prefix, skip_bad=skip_bad, report=report)
