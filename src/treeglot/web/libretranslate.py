"""LibreTranslate's interface (https://docs.libretranslate.com), which Weblate, Mastodon and browser extensions use."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from treeglot.web import apertium, asking
from treeglot.web.detect import detect as detect_language
from treeglot.web.formats import SUFFIXES, translate_named, translate_text_html
from treeglot.web.languages import name
from treeglot.web.shelf import Served, Shelf
from treeglot.web.translate import Wish, alternatives


def field(fields: asking.Fields, name: str) -> str:
    """Return a field that the request must contain."""
    value = fields.get(name)
    if not value:
        raise asking.refuse(f"Invalid request: missing {name} parameter")
    if not isinstance(value, str):
        raise asking.refuse(f"Invalid request: {name} is not a string")
    return value


async def translate(request: Request) -> Response:
    """Answer `POST /translate`. A request with `langpair` goes to the Apertium interface."""
    fields = await asking.fields_of(request)
    if "langpair" in fields:
        return await apertium.answer(request, fields)
    if not fields.get("q"):
        raise asking.refuse("Invalid request: missing q parameter")
    source, target = field(fields, "source"), field(fields, "target")
    texts = asking.texts_of(request, fields["q"])
    if not isinstance(fields["q"], list):
        texts = ["\n".join(texts[0].splitlines())] if _is_form(request) else texts
    kind = fields.get("format") or "text"
    if kind not in ("text", "html"):
        raise asking.refuse(f"{kind} format is not supported")
    number = _number(request, fields.get("alternatives", 0))
    asking.admit(request, fields, characters=sum(map(len, texts)))
    models, detected = asking.model_for(request, source, target, texts)

    async def work() -> list[tuple[str, list[str]]]:
        return [await _one(request, served, text, kind, number) for served, text in zip(models, texts, strict=True)]

    found = await asking.within(request, work())
    batch = isinstance(fields["q"], list)
    answer: asking.Fields = {"translatedText": [text for text, _ in found] if batch else found[0][0]}
    if source.lower() == "auto":
        languages = [{"confidence": share, "language": code} for code, share in detected]
        answer["detectedLanguage"] = languages if batch else languages[0]
    if number:
        answer["alternatives"] = [others for _, others in found] if batch else found[0][1]
    return asking.Json(answer)


def _is_form(request: Request) -> bool:
    return "json" not in request.headers.get("content-type", "")


def _number(request: Request, value: Any) -> int:
    most = asking.service_of(request).options.alternatives
    try:
        number = int(value or 0)
    except (TypeError, ValueError):
        raise asking.refuse(f"Invalid request: alternatives is {str(value)[:20]!r}; expected a number") from None
    if not 0 <= number <= most:
        raise asking.refuse(f"Invalid request: alternatives is {number}; expected 0 to {most}")
    return number


async def _one(request: Request, served: Served, text: str, kind: str, number: int) -> tuple[str, list[str]]:
    """Translate one text, and find alternatives if the request asks for them."""
    if kind == "html":
        asking.service_of(request).figures.translated(served.name, len(text))
        return await asking.with_model(request, served, partial(translate_text_html, text)), []
    found = await asking.translated(request, served, text, Wish(kbest=number + 1))
    return found.text, alternatives(served.model, found, number) if number else []


async def languages(request: Request) -> Response:
    """Answer `GET /languages` with the languages that models translate."""
    return asking.Json(languages_of(asking.service_of(request).shelf))


def languages_of(shelf: Shelf) -> list[asking.Fields]:
    """Return all languages, each with the languages that it can be translated to."""
    return [{"code": c, "name": name(c), "targets": shelf.targets(c)} for c in shelf.languages]


async def detect(request: Request) -> Response:
    """Answer `POST /detect` with the likely languages of a text."""
    fields = await asking.fields_of(request)
    text = field(fields, "q")
    asking.texts_of(request, text)
    asking.admit(request, fields, characters=len(text))
    found = await asyncio.to_thread(detect_language, text, asking.service_of(request).shelf.languages)
    return asking.Json([{"confidence": share, "language": code} for code, share in found])


async def suggest(request: Request) -> Response:
    """Answer `POST /suggest`, by which a user suggests a better translation `s` of `q`."""
    service = asking.service_of(request)
    if service.suggestions is None:
        raise asking.refuse("Suggestions are disabled on this server.", 403)
    fields = await asking.fields_of(request)
    text, suggested = field(fields, "q"), field(fields, "s")
    source, target = field(fields, "source"), field(fields, "target")
    asking.texts_of(request, [text, suggested])
    asking.admit(request, fields, characters=len(text) + len(suggested))
    asking.model_for(request, source, target, [text])
    await asyncio.to_thread(service.suggestions.add, source, target, text, suggested)
    return asking.Json({"success": True})


async def health(request: Request) -> Response:
    """Answer `GET /health`, which tells that the service runs."""
    return asking.Json({"status": "ok"})


async def settings(request: Request) -> Response:
    """Answer `GET /frontend/settings`, which LibreTranslate's own page requests first."""
    service = asking.service_of(request)
    first = next(iter(service.shelf))
    return asking.Json(
        {
            "apiKeys": service.keys is not None,
            "charLimit": service.options.characters,
            "frontendTimeout": 500,
            "keyRequired": service.require_key,
            "language": {
                "source": {"code": first.source, "name": name(first.source)},
                "target": {"code": first.target, "name": name(first.target)},
            },
            "suggestions": service.suggestions is not None,
            "supportedFilesFormat": list(SUFFIXES),
        }
    )


async def translate_file(request: Request) -> Response:
    """Answer `POST /translate_file` with the address of the translated file."""
    most = asking.service_of(request).options.body
    async with request.form(max_files=1, max_fields=20, max_part_size=most) as form:
        fields: asking.Fields = {key: value for key, value in form.items() if isinstance(value, str)}
        upload: Any = form.get("file")
        if upload is None or isinstance(upload, str) or not upload.filename:
            raise asking.refuse("Invalid request: missing file parameter")
        suffix = "." + upload.filename.rpartition(".")[2].lower()
        content: bytes = await upload.read()
    if suffix not in SUFFIXES:
        raise asking.refuse(f"Invalid request: file format not supported; expected {', '.join(SUFFIXES)}")
    source, target = field(fields, "source"), field(fields, "target")
    asking.admit(request, fields, characters=len(content))
    sample = content[:5000].decode("utf-8", "replace")
    [served], _ = asking.model_for(request, source, target, [sample])
    made = await asking.within(request, asking.with_model(request, served, partial(translate_named, suffix, content)))
    kept = asking.service_of(request).made
    secret = await asyncio.to_thread(kept.add, f"translated_{served.target}{suffix}", made)
    return asking.Json({"translatedFileUrl": str(request.url_for("download", secret=secret))})


async def download(request: Request) -> Response:
    """Answer `GET /download_file/SECRET` with a translated file."""
    kept = asking.service_of(request).made
    name, content = await asyncio.to_thread(kept.find, request.path_params["secret"])
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)
