"""Treeglot's own interface, /v1/: translations with their explanations."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from treeglot._core import Hypothesis
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import Options, from_table, option, required
from treeglot.decode import Translation
from treeglot.decode.glossary import Glossary
from treeglot.models import Model
from treeglot.web.asking import (
    Fields,
    Json,
    Service,
    admit,
    fields_of,
    model_for,
    refuse,
    service_of,
    texts_of,
    within,
)
from treeglot.web.languages import name
from treeglot.web.shelf import Served, Shelf
from treeglot.web.translate import Wish, hypothesis_text, sentences, translate

T = TypeVar("T")


@dataclass(frozen=True)
class TranslateRequest(Options):
    """The fields of a request to translate one or several texts."""

    q: str | list[str] = required("a text, or a list of them")
    model: str = option("", "the name of a model; empty: the first for the languages")
    source: str = option("auto", "the language of the text, or auto")
    target: str = option("", "the language to translate to; empty: what the first model gives")
    glossary: dict[str, str] = option({}, "terms and their translations, which are forced")
    kbest: int = option(1, "hypotheses of each sentence", least=1, most=100)
    confidence: bool = option(False, "add how sure the model is of sentences and words, if it has learnt that")
    trace: bool = option(False, "add derivations, features and dependency trees")
    stream: bool = option(False, "answer with a line of JSON for each sentence as soon as it is there")
    api_key: str = option("", "the key, unless a header has it")


def merged(model: Model, terms: Mapping[str, str]) -> Glossary | None:
    """Combine forced terms with the model's glossary, which they override.

    None means that there are no forced terms.
    """
    if not terms:
        return None
    own = model.glossary
    try:
        added = Glossary.of(terms).entries
        kept = tuple(entry for entry in own.entries if entry.source not in terms) if own is not None else ()
        return Glossary((*added, *kept))
    except TreeglotError as error:
        raise refuse(str(error)) from error


async def asked(request: Request, schema: Callable[..., T]) -> tuple[T, Fields]:
    """Parse the fields of a request by a `schema`. Unknown fields are refused."""
    fields = await fields_of(request)
    try:
        return from_table(schema, fields), fields
    except UsageError as error:
        raise refuse(str(error)) from error


def pick(request: Request, asked: Any, texts: list[str]) -> Served:
    """Return the model that a request names, or else the model for its languages."""
    shelf = service_of(request).shelf
    if asked.model:
        try:
            return shelf.named(asked.model)
        except UsageError as error:
            raise refuse(str(error)) from error
    if not asked.target:
        if asked.source == "auto":
            return next(iter(shelf))
        found = next((served for served in shelf if shelf.between(asked.source, served.target) is served), None)
        if found is None:
            raise refuse(f"{asked.source} is not supported")
        return found
    return model_for(request, asked.source, asked.target, ["\n".join(texts)])[0][0]


async def refreshed(request: Request) -> Shelf:
    """Reload models whose folders have changed, perhaps by another process, and return all models."""
    shelf = service_of(request).shelf
    await asyncio.to_thread(shelf.refresh)
    return shelf


def named(request: Request, name: str) -> Served:
    """Find a model by its name. Without a name, return the first model."""
    shelf = service_of(request).shelf
    try:
        return shelf.named(name) if name else next(iter(shelf))
    except UsageError as error:
        raise refuse(str(error)) from error


async def translate_texts(request: Request) -> Response:
    """Answer `POST /v1/translate` with translations and their details."""
    wanted, fields = await asked(request, TranslateRequest)
    texts = texts_of(request, wanted.q)
    admit(request, fields, characters=sum(map(len, texts)))
    served = pick(request, wanted, texts)
    service = service_of(request)
    service.figures.translated(served.name, sum(map(len, texts)))
    terms = merged(served.model, wanted.glossary)
    wish = Wish(wanted.kbest, {"glossary": terms} if terms is not None else {})
    if wanted.stream:
        lines = _lines(service, served, texts, wish, wanted)
        return StreamingResponse(_guarded(service, lines), media_type="application/x-ndjson")

    async def work() -> list[Fields]:
        found = [await translate(service.workers, served.model, text, wish) for text in texts]
        return await service.workers.all([partial(_text, served, one, wanted) for one in found])

    found = await within(request, work())
    answer: Fields = {"model": served.name, "digest": served.digest, "translations": found}
    return Json(answer)


def _text(served: Served, found: Translation, wanted: TranslateRequest) -> Fields:
    """Translate a text. Return it with its sentences and their places in both texts."""
    parts = found.sentences
    begin = [0, 0]
    listed = []
    for part in parts:
        spans = found.source_tokens.spans, found.target_tokens.spans
        sizes = len(part.source_tokens), len(part.target_tokens)
        own = [spans[side][begin[side] : begin[side] + sizes[side]] for side in (0, 1)]
        begin = [begin[side] + sizes[side] for side in (0, 1)]
        listed.append({**_described(served, part, wanted), "source_spans": own[0], "target_spans": own[1]})
    return {"source": found.source, "text": found.text, "sentences": listed, "seconds": round(found.seconds, 6)}


def _described(served: Served, found: Translation, wanted: TranslateRequest) -> Fields:
    """Describe a sentence with the data that the request asks for. Confidence needs a second search."""
    entry = describe(served, found, wanted.trace)
    if wanted.confidence and served.model.translator.judge is not None and found.hypotheses:
        entry["confidence"] = found.confidence
        entry["word_confidence"] = list(found.word_confidence)
    return entry


def describe(served: Served, found: Translation, trace: bool) -> Fields:
    """Describe a translated sentence: its words and their positions, its alignment, and other requested data."""
    entry: Fields = {
        "source": found.source,
        "text": found.text,
        "source_spans": found.source_tokens.spans,
        "target_spans": found.target_tokens.spans,
        "alignment": [[i, j] for i, j in found.alignment.links.tolist()],
        "score": _finite(found.score),
        "seconds": round(found.seconds, 6),
    }
    if found.problem:
        entry["problem"] = found.problem
    if found.terms:
        entry["terms"] = [term._asdict() for term in found.terms]
    if found.notes:
        entry["notes"] = list(found.notes)
    if len(found.hypotheses) > 1:
        entry["kbest"] = [
            {"text": hypothesis_text(served.model, found, h).text, "score": _finite(h.score), **_traced(h, trace)}
            for h in found.hypotheses
        ]
    return entry | _traced(found.best, trace)


def _traced(hypothesis: Hypothesis, trace: bool) -> Fields:
    if not trace:
        return {}
    found: Fields = {
        "features": {name: _finite(value) for name, value in hypothesis.features.items()},
        "given_by": list(hypothesis.given_by),
        "derivation": [
            {
                "label": step.label,
                "source": step.source,
                "target": step.target,
                "span": list(step.span),
                "children": step.children,
                "local": step.local,
            }
            for step in hypothesis.derivation.steps
        ],
    }
    if hypothesis.dependency is not None:
        found["heads"], found["tags"] = hypothesis.dependency.heads.tolist(), hypothesis.dependency.tags
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


async def _lines(
    service: Service, served: Served, texts: list[str], wish: Wish, wanted: TranslateRequest
) -> AsyncIterator[bytes]:
    """Yield a line for each sentence, with its place in its text. The last line tells whether all went well."""
    number = 0
    for which, text in enumerate(texts):
        async for (begin, end), found in sentences(service.workers, served.model, text, wish):
            [entry] = await service.workers.all([partial(_described, served, found, wanted)])
            yield _line({"number": which, "begin": begin, "end": end, **entry})
            number += 1
    yield _line({"done": True, "model": served.name, "digest": served.digest, "sentences": number})


async def _guarded(service: Service, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines. After the deadline, yield an error instead, because the status 200 has already been sent."""
    import asyncio

    end = asyncio.get_running_loop().time() + service.options.deadline
    try:
        while True:
            left = end - asyncio.get_running_loop().time()
            yield await asyncio.wait_for(anext(lines), max(left, 0.001))
    except StopAsyncIteration:
        return
    except asyncio.TimeoutError:
        yield _line({"error": f"the request took longer than {service.options.deadline:g} s"})
    finally:
        await lines.aclose()  # type: ignore[attr-defined]


def _line(entry: Fields) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


async def models(request: Request) -> Response:
    """Answer `GET /v1/models` with a description of each model."""
    service = service_of(request)
    first = next(iter(service.shelf))
    return Json(
        {
            "models": [
                {
                    "name": served.name,
                    "kind": served.model.kind,
                    "source": served.source,
                    "target": served.target,
                    "source_name": name(served.source),
                    "target_name": name(served.target),
                    "digest": served.digest,
                    "rules": None if served.model.file.on_demand else served.model.translator.rules,
                    "on_demand": bool(served.model.file.on_demand),
                    "corrections": 0 if served.model.corrections is None else len(served.model.corrections),
                    "dev": len(service.dev[0]) if served.pair == first.pair else 0,
                    "confidence": served.model.translator.judge is not None,
                    "parses": served.model.reader.open_parser is not None,
                    "weights": dict(served.model.weights),
                    "search": dataclasses.asdict(served.model.translator.options),
                }
                for served in service_of(request).shelf
            ]
        }
    )
