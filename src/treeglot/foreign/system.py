"""Combines another decoder's files (grammars, weights, language model) into a translator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import RuleTable
from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.foreign.grammar import PREFIXES, read_grammar
from treeglot.foreign.settings import BINARISED, ForeignSettings
from treeglot.foreign.translator import ForeignTranslator, PassThrough, search_options, translates_trees
from treeglot.foreign.weights import Decoder, ForeignWeights, read_foreign_weights

if TYPE_CHECKING:
    from treeglot.decode import SearchOptions

OWNERS = {"joshua": "tm_", "moses": "TranslationModel"}  # cdec has one name for all grammars
Report = Callable[[FormatError], None]


@dataclass(frozen=True)
class Files:
    """The files of another decoder that make a translator."""

    decoder: Decoder
    grammars: tuple[Path, ...] = ()
    weights: Path | None = None
    lm: Path | None = None
    prefixes: tuple[str, ...] = ()  # of features without names, for the grammars in turn
    skip_bad: bool = False
    below: Path | None = None  # the folder that sentences may name grammars in


def read_weights_of(files: Files, settings: ForeignSettings | None) -> ForeignWeights:
    """Read the weights of another decoder.

    `settings` come from its configuration. Without a file, there are no weights.
    """
    if files.weights is None:
        found = ForeignWeights(files.decoder, {})
    else:
        found = read_foreign_weights(files.weights, files.decoder, strict=settings is not None)
    return found if settings is None else replace(found, settings=settings)


def read_table(files: Files, grammars: Sequence[str | Path], weights: ForeignWeights, report: Report) -> RuleTable:
    """Read the grammars of another decoder into one rule table."""
    prefixes = files.prefixes or weights.settings.prefixes
    table = read_grammar(list(grammars), files.decoder, prefix=prefixes, skip_bad=files.skip_bad, report=report)
    if files.decoder == "travatar":
        for label in table.labels:
            if label.endswith("'") and label.strip("'"):
                raise UsageError(f"the label {label!r} is one of binarised trees: {BINARISED} (binarize none)")
    return table


def open_system(
    files: Files,
    weights: ForeignWeights,
    table: RuleTable,
    options: SearchOptions,
    *,
    pass_through: PassThrough | None,
    glue: bool,
    own_rules: bool,
    report: Report,
) -> ForeignTranslator:
    """Open the translator. If weights belong to a grammar with another name, they are refused."""
    from treeglot.lm import load_ngram

    translator = ForeignTranslator(
        table,
        weights,
        load_ngram(files.lm) if files.lm is not None else None,
        options,
        pass_through=pass_through,
        glue=glue,
        tables=lambda own: read_table(files, [*files.grammars, *_allowed(own, files.below)], weights, report),
        own_rules=own_rules,
    )
    _check_owners(files, weights, translator.unknown_weights)
    return translator


def limits(weights: ForeignWeights, given: Mapping[str, float | bool | None]) -> SearchOptions:
    """Return the search options for translating with another decoder's files.

    Given ones override those of the configuration, which override the decoder's defaults.
    """
    options = search_options(weights)
    if weights.settings.pop_limit is not None:
        options = replace(options, pop_limit=weights.settings.pop_limit)
    try:
        return replace(options, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(str(error)) from error


def refuse_for_trees(table: RuleTable, given: bool) -> bool:
    """Return whether the rules translate trees. In that case, refuse given options that apply only to strings."""
    trees = translates_trees(table)
    if trees and given:
        raise UsageError("--pass-through, --no-glue and --markup are for rules of strings; these are of trees")
    return trees


def _allowed(names: Sequence[str], below: Path | None) -> list[Path]:
    """Return the grammars that a sentence names. They must be in the allowed folder, even if links are followed."""
    if below is None:
        raise TreeglotError("a sentence names a grammar; expected --sentence-grammars DIR, the folder that has it")
    folder = below.resolve()
    found = []
    for name in names:
        path = next((p for p in (Path(name), below / name) if p.resolve().is_relative_to(folder)), None)
        if path is None:
            raise TreeglotError(f"{name}: is not in the folder {below}")
        if path.exists() and not path.is_file():
            raise TreeglotError(f"{name}: is not a file")
        found.append(path)
    return found


def _check_owners(files: Files, weights: ForeignWeights, unknown: Sequence[str]) -> None:
    """Refuse grammars that share feature names only by default, if the weights belong to a grammar with another name.

    Otherwise, the features of a glue grammar would get the weights of the rules.
    """
    prefixes, grammars = files.prefixes or weights.settings.prefixes, len(files.grammars)
    if files.decoder == "joshua" and "PhrasePenalty" in weights.weights and len(set(prefixes[:grammars])) > 1:
        raise UsageError("PhrasePenalty counts the rules of one owner: it cannot be had for grammars of several")
    default = PREFIXES[files.decoder]
    shared = [*prefixes, *[default] * (grammars - len(prefixes))][:grammars].count(default)
    if len(prefixes) >= grammars or shared < 2 or files.decoder not in OWNERS:
        return
    for name in unknown:
        owner, _, number = name.rpartition("_")
        if not number.isdecimal():
            owner = name if files.decoder == "moses" else ""
        if owner.startswith(OWNERS[files.decoder]) and owner != OWNERS[files.decoder]:
            raise UsageError(
                f"the weights name {name!r}, but no grammar has it: {shared} grammars share the prefix {default}. "
                f"Expected a --prefix for each grammar in order, such as --prefix {default} --prefix {owner}"
            )
