"""Grammars of other decoders: reads them into a table, and writes them from a table (docs/interoperability.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from treeglot._core import GrammarFormat, GrammarReader, GrammarStyle, RuleTable, RuleTableBuilder, write_rules
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_chunks, write_binary
from treeglot.base.options import unknown

FormatName: TypeAlias = Literal["cdec", "joshua", "moses", "travatar"]

FORMATS = {
    "cdec": GrammarFormat.cdec,
    "joshua": GrammarFormat.joshua,
    "moses": GrammarFormat.moses,
    "travatar": GrammarFormat.travatar,
}
PREFIXES = {"cdec": "PhraseModel", "joshua": "tm_pt", "moses": "TranslationModel0", "travatar": "feature"}
CHUNK = 1 << 14  # rules written at once


def read_grammar(
    path: PathLike | Sequence[PathLike],
    format: FormatName = "cdec",
    *,
    prefix: str | Sequence[str] | None = None,
    skip_bad: bool = False,
    report: Callable[[FormatError], None] | None = None,
) -> RuleTable:
    """Read a grammar, in one file or several, into a table.

    Features without names get `prefix` and a number: PhraseModel_0 (cdec), tm_pt_0 (joshua), TranslationModel0_0
    (moses). If there are several prefixes, each belongs to one of the files, in order. A bad rule raises `FormatError`
    with its file and line. With `skip_bad`, bad rules are skipped, and `report` gets the first hundred of each file.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.scfg"
    >>> _ = path.write_text("[X] ||| das [X,1] ||| the [1] ||| EgivenF=0.5 ||| 0-0\\n")
    >>> table = read_grammar(path)
    >>> len(table), table.features
    (1, ['EgivenF'])
    """
    chosen = _format(format)
    builder = RuleTableBuilder([])
    paths = [path] if isinstance(path, str | os.PathLike) else path
    prefixes = [prefix] * len(paths) if isinstance(prefix, str) else list(prefix or ())
    prefixes += [PREFIXES[format]] * (len(paths) - len(prefixes))
    for one, name in zip(paths, prefixes, strict=False):
        reader = GrammarReader(os.fspath(one), skip_bad, chosen, name, builder)
        for chunk in read_chunks(one):
            reader.feed(chunk)
        reader.finish()
        if report is not None:
            for line, problem in reader.problems:
                report(FormatError(os.fspath(one), line, problem))
    return builder.finish()


def write_grammar(table: RuleTable, path: PathLike, format: FormatName = "cdec") -> None:
    """Write all rules of a table as a grammar. Rules that the format cannot represent are refused.

    cdec, joshua and travatar keep the names of features. moses keeps only their order, and treats them as logarithms of
    probabilities.
    """
    if not isinstance(table, RuleTable):
        raise UsageError(f"write_grammar was given {table!r}; expected a rule table, then the path of the grammar")
    names = [_moses_name(name) for name in table.features] if format == "moses" else table.features
    write_some(table, path, GrammarStyle(_format(format), names), range(len(table)))


def write_some(table: RuleTable, path: PathLike, style: GrammarStyle, rules: Sequence[int]) -> None:
    """Write some rules of a table as a grammar."""
    with write_binary(path) as stream:
        for begin in range(0, len(rules), CHUNK):
            stream.write(write_rules(table, style, list(rules[begin : begin + CHUNK])))


def _moses_name(feature: str) -> str:
    """Return the name of a sparse feature as Moses rules contain it. Dense scores have no names."""
    prefix, name = PREFIXES["moses"] + "_", feature.removeprefix(PREFIXES["moses"] + "_")
    return name if feature.startswith(prefix) and not name.isdecimal() else ""


def _format(name: str) -> GrammarFormat:
    if name not in FORMATS:
        raise UsageError(unknown("grammar format", name, FORMATS))
    return FORMATS[name]
