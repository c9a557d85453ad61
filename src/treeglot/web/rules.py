"""Searches and corrects rules, learns from better translations, and shows the effect of corrections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from secrets import token_hex
from typing import Any, Literal, cast

from starlette.requests import Request
from starlette.responses import Response

from treeglot.base.errors import TreeglotError
from treeglot.base.options import Options, from_table, option, required
from treeglot.models import Model
from treeglot.models.radius import check_corrections
from treeglot.rules.corrections import CORRECTIONS, Correction, Corrections, append, remove_group
from treeglot.rules.find import find_rules
from treeglot.web.asking import Fields, Json, admit, refuse, service_of, texts_of, within
from treeglot.web.own import asked, merged, named, refreshed
from treeglot.web.shelf import Served
from treeglot.web.translate import InTurns

MOST = 1000  # corrections of one request
SHOWN = 100  # sentences that change, or suggestions

_writing = threading.Lock()


@dataclass(frozen=True)
class RulesRequest(Options):
    """The fields of a request to search rules by words."""

    source: str = option("", "words and variables of the source side, blanks between them; empty: any")
    target: str = option("", "likewise of the target side")
    whole: bool = option(False, "a side is what is given, and no more")
    sides: tuple[str, ...] = option((), "rules to look up, each as SOURCE ||| TARGET; none: any")
    most: int = option(20, "rules to show", least=1, most=1000)
    model: str = option("", "the name of a model; empty: the first")
    api_key: str = option("", "the key, unless a header has it")


@dataclass(frozen=True)
class Change(Options):
    """One correction in a request: a rule to add, forbid or reweight."""

    action: Literal["add", "forbid", "reweight"] = required("what is done")
    source: str = required("the source side, as rules have it")
    target: str | None = option(None, "the target side; none: any, for rules that are forbidden or reweighted")
    lhs: str = option("", "the left-hand side, X or [X]; empty: X for a rule that is added, otherwise any")
    alignment: str = option("", "links of its words: 0-0 1-2")
    features: dict[str, float] = option({}, "values by name")


@dataclass(frozen=True)
class CorrectRequest(Options):
    """The fields of a request to correct rules. All corrections form one group."""

    corrections: list[dict[str, Any]] = required("action, source, target, lhs, alignment and features of each rule")
    author: str = option("", "who says so")
    model: str = option("", "the name of a model; empty: the first")
    api_key: str = option("", "the key, unless a header has it")


@dataclass(frozen=True)
class UndoRequest(Options):
    """The fields of a request to undo a group of corrections."""

    group: str = required("the group that the answer to the corrections named")
    model: str = option("", "the name of a model; empty: the first")
    api_key: str = option("", "the key, unless a header has it")


@dataclass(frozen=True)
class LearnRequest(Options):
    """The fields of a request to learn from a sentence and its correct translation."""

    q: str = required("the sentence")
    translation: str = required("its translation")
    weights: bool = option(False, "move the weights, too: a small step towards the translation")
    author: str = option("", "who says so")
    model: str = option("", "the name of a model; empty: the first")
    api_key: str = option("", "the key, unless a header has it")


@dataclass(frozen=True)
class CheckRequest(Options):
    """The fields of a request to compare translations without and with changes.

    Without changes, the model's own are used.
    """

    corrections: tuple[dict[str, Any], ...] = option((), "corrections to try")
    sentence: str = option("", "a sentence to learn from, with its translation")
    translation: str = option("", "its translation")
    glossary: dict[str, str] = option({}, "terms to try, with their translations")
    q: tuple[str, ...] = option((), "sentences; none: those that the service was given with --dev")
    references: tuple[str, ...] = option((), "their translations, to compute scores")
    model: str = option("", "the name of a model; empty: the first")
    api_key: str = option("", "the key, unless a header has it")


async def rules(request: Request) -> Response:
    """Answer `POST /v1/rules` with the rules of a model that contain some words."""
    wanted, fields = await asked(request, RulesRequest)
    admit(request, fields, characters=len(wanted.source) + len(wanted.target))
    if len(wanted.sides) > MOST:
        raise refuse(f"{len(wanted.sides):,} rules; expected at most {MOST:,}")
    sides = [(source, target) for source, _, target in (each.partition(" ||| ") for each in wanted.sides)]
    served = named(request, wanted.model)
    served.model.need_table("searches of rules")
    table = served.model.directory / "rules.parquet"
    if not table.is_file():
        raise refuse(f"{served.name} has no rules.parquet, which its rules are searched in")

    def work() -> Fields:
        options: Any = {"whole": wanted.whole, "sides": sides, "most": wanted.most}
        total, found = find_rules(table, wanted.source, wanted.target, **options)
        return {"total": total, "rules": [asdict(rule) for rule in found]}

    [answer] = await within(request, service_of(request).workers.all([work]))
    return Json({"model": served.name, "digest": served.digest, **answer})


def listed(served: Served) -> Fields:
    """Return the corrections of a model."""
    held = served.model.corrections or ()
    shown = [asdict(each) | {"features": dict(each.features), "line": str(each)} for each in held]
    return {"model": served.name, "digest": served.digest, "corrections": shown}


async def corrections(request: Request) -> Response:
    """Answer `GET /v1/corrections` with the corrections of the models."""
    admit(request, {})
    return Json({"corrections": [listed(served) for served in await refreshed(request)]})


async def correct(request: Request) -> Response:
    """Answer `POST /v1/corrections`: add corrections to those of a model. This needs the right to correct."""
    wanted, fields = await asked(request, CorrectRequest)
    admit(request, fields, "correct")
    served = named(request, wanted.model)
    group = f"web-{token_hex(6)}"
    made = _made(wanted.corrections, wanted.author, group)
    if not made:
        raise refuse("there are no corrections; expected at least one")
    _, notes = await asyncio.to_thread(_tried, served.model, made)
    await asyncio.to_thread(_append, served.model, made)
    return Json({**await _again(request, served), "group": group, "notes": notes})


async def undo(request: Request) -> Response:
    """Answer `POST /v1/corrections/undo`: undo a group of corrections. This needs the right to correct."""
    wanted, fields = await asked(request, UndoRequest)
    admit(request, fields, "correct")
    await refreshed(request)
    served = named(request, wanted.model)
    if wanted.group not in (served.model.corrections or Corrections(())).groups:
        raise refuse(f"{served.name} has no corrections of the group {wanted.group!r}")
    removed = await asyncio.to_thread(_removed, served.model, wanted.group)
    return Json({**await _again(request, served), "removed": len(removed)})


async def learn(request: Request) -> Response:
    """Answer `POST /v1/learn`: teach a model a translation. This needs the right to learn.

    When the answer is sent, the change is on disk.
    """
    wanted, fields = await asked(request, LearnRequest)
    [text] = texts_of(request, wanted.q)
    [translation] = texts_of(request, wanted.translation, "translation")
    admit(request, fields, "learn", characters=len(text) + len(translation))
    served = named(request, wanted.model)

    def work() -> Fields:
        try:
            with _writing:
                _check_file(served.model)
                found = served.model.learn(text, translation, author=wanted.author, weights=wanted.weights)
        except TreeglotError as error:
            raise refuse(str(error)) from error
        return {
            "group": found.group,
            "rules": [str(rule) for rule in found.rules],
            "known": found.known,
            "links": str(found.links),
            "step": dict(found.step.features) if found.step is not None else {},
        }

    [answer] = await within(request, service_of(request).workers.all([work]))
    return Json({**await _again(request, served), **answer})


async def suggestions(request: Request) -> Response:
    """Answer `GET /v1/suggestions` with the suggestions of users. This needs the right to correct."""
    admit(request, {}, "correct")
    kept = service_of(request).suggestions
    return Json({"suggestions": [] if kept is None else await asyncio.to_thread(kept.last, SHOWN)})


async def check(request: Request) -> Response:
    """Answer `POST /v1/corrections/check` with the sentences that changes affect, before and after."""
    wanted, fields = await asked(request, CheckRequest)
    texts = texts_of(request, list(wanted.q)) if wanted.q else []
    pair = [text for one in (wanted.sentence, wanted.translation) for text in texts_of(request, one, "sentence")]
    served = named(request, wanted.model)
    sources, references = (texts, list(wanted.references)) if texts else _dev(request, served)
    admit(request, fields, characters=sum(map(len, (*sources, *pair))))
    if any(pair) and not all(pair):
        raise refuse("a sentence or its translation is missing; expected both")
    made = _made(wanted.corrections, "", "")

    turns: list[InTurns] = []

    def work() -> Fields:
        model = served.model
        try:
            learnt: tuple[Correction, ...] = ()
            if all(pair):
                with _writing:
                    learnt = model.learner.learn(pair[0], pair[1], None, "").rules
            tried = made + learnt
            after, notes = _tried(model, tried) if tried else (model, [])
            if wanted.glossary:
                after = after.with_glossary(merged(model, wanted.glossary))
            before = model if tried or wanted.glossary or all(pair) else model.with_corrections(None)
            turns.extend(InTurns(one, service_of(request).workers) for one in (after, before))
            found = check_corrections(
                cast("Model", turns[0]), sources, references or None, before=cast("Model", turns[1])
            )
        except TreeglotError as error:
            raise refuse(str(error)) from error
        changes = [asdict(change) | {"source": sources[change.number]} for change in found.changes[:SHOWN]]
        scores = {name: {"before": one, "after": other} for name, (one, other) in found.scores.items()}
        counts = {"sentences": found.sentences, "touched": len(found.touched), "changed": len(found.changes)}
        return {**counts, "changes": changes, "scores": scores, "notes": notes}

    try:
        answer = await within(request, asyncio.to_thread(work))
    finally:
        for each in turns:
            each.stop()
    return Json({"model": served.name, "digest": served.digest, **answer})


def _dev(request: Request, served: Served) -> tuple[list[str], list[str]]:
    service = service_of(request)
    first = next(iter(service.shelf))
    if not service.dev[0] or served.pair != first.pair:
        raise refuse(f"there are no sentences to check {served.name} with; expected q, or treeglot serve --dev")
    return service.dev


def _made(given: Sequence[dict[str, Any]], author: str, group: str) -> tuple[Correction, ...]:
    """Create corrections from the fields of a request."""
    if len(given) > MOST:
        raise refuse(f"{len(given):,} corrections; expected at most {MOST:,}")
    try:
        return tuple(_correction(each, author, group) for each in given)
    except TreeglotError as error:
        raise refuse(str(error)) from error


def _correction(given: Mapping[str, Any], author: str, group: str) -> Correction:
    wanted: Change = from_table(Change, given)
    bracketed = wanted.lhs.startswith("[") and wanted.lhs.endswith("]")
    lhs = wanted.lhs[1:-1] if bracketed else wanted.lhs
    return Correction(
        wanted.action,
        lhs or ("X" if wanted.action == "add" else ""),
        " ".join(wanted.source.split()),
        None if wanted.target is None else " ".join(wanted.target.split()),
        wanted.alignment,
        tuple(wanted.features.items()),
        " ".join(author.split()),
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        group,
    )


def _tried(model: Model, more: tuple[Correction, ...]) -> tuple[Model, list[str]]:
    """Return a copy of the model with additional corrections, and notes on doubtful ones.

    Impossible ones are refused.
    """
    try:
        held = tuple(model.corrections or ())
        made, odd = model.try_corrections((*held, *more), len(held))
    except TreeglotError as error:
        raise refuse(str(error)) from error
    return made, [problem.partition(": ")[2] for problem in odd]


def _append(model: Model, made: tuple[Correction, ...]) -> None:
    with _writing:
        _check_file(model)
        append(model.directory / CORRECTIONS, made)


def _check_file(model: Model) -> None:
    """Refuse to extend a file that contains a bad line, because no model could be loaded with it."""
    path = model.directory / CORRECTIONS
    try:
        if path.is_file():
            Corrections.read(path)
    except TreeglotError as error:
        raise refuse(str(error), 409) from error


def _removed(model: Model, group: str) -> Corrections:
    try:
        return remove_group(model.directory / CORRECTIONS, group)
    except TreeglotError as error:
        raise refuse(str(error), 409) from error


async def _again(request: Request, served: Served) -> Fields:
    """Return the current corrections of the model, after reloading it."""
    return listed((await refreshed(request)).named(served.name))
