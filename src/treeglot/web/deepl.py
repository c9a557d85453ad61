"""Those parts of DeepL's interface that clients use to translate. https://developers.deepl.com/api-reference/translate"""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from treeglot.web import asking
from treeglot.web.formats import translate_text_html
from treeglot.web.languages import name, normal
from treeglot.web.shelf import Served

REGIONS = {"en": ("EN-US", "EN-GB"), "pt": ("PT-BR", "PT-PT")}  # targets, which have a region


async def translate(request: Request) -> Response:
    """Answer `POST /v2/translate`. It needs `text` and `target_lang`; `source_lang` and `tag_handling` are optional."""
    fields = await asking.fields_of(request)
    given, target = fields.get("text"), fields.get("target_lang")
    if not given:
        raise asking.refuse("Parameter 'text' not specified.")
    if not isinstance(target, str) or not target:
        raise asking.refuse("Parameter 'target_lang' not specified.")
    if "json" in request.headers.get("content-type", "") and not isinstance(given, list):
        raise asking.refuse("Value for 'text' not supported: expected a list of strings.")
    texts = asking.texts_of(request, given, "text")
    html = fields.get("tag_handling") == "html"
    if fields.get("tag_handling") not in (None, "", "html"):
        raise asking.refuse("Value for 'tag_handling' not supported: expected html.")
    asking.admit(request, fields, characters=sum(map(len, texts)))
    models, _ = asking.model_for(request, str(fields.get("source_lang") or "auto"), target, texts)

    async def work() -> list[asking.Fields]:
        return [await _one(request, served, text, html) for served, text in zip(models, texts, strict=True)]

    found = await asking.within(request, work())
    if fields.get("show_billed_characters"):
        for entry, text in zip(found, texts, strict=True):
            entry["billed_characters"] = len(text)
    return asking.Json({"translations": found})


async def _one(request: Request, served: Served, text: str, html: bool) -> asking.Fields:
    if html:
        made = await asking.with_model(request, served, partial(translate_text_html, text))
    else:
        made = (await asking.translated(request, served, text)).text
    return {"detected_source_language": normal(served.source).upper(), "text": made}


async def languages(request: Request) -> Response:
    """Answer `GET /v2/languages?type=source`, or with `target`."""
    asking.admit(request, {})
    shelf = asking.service_of(request).shelf
    kind = request.query_params.get("type", "source")
    if kind not in ("source", "target"):
        raise asking.refuse(f"Value for 'type' not supported: {kind[:20]!r}.")
    if kind == "source":
        return asking.Json([{"language": normal(code).upper(), "name": name(code)} for code in shelf.sources])
    targets = dict.fromkeys(served.target for served in shelf)
    return asking.Json(
        [
            {"language": region, "name": name(code), "supports_formality": False}
            for code in targets
            for region in REGIONS.get(normal(code), (normal(code).upper(),))
        ]
    )


async def usage(request: Request) -> Response:
    """Answer `GET /v2/usage`. It reports no usage and a very high quota, because our limits are per minute."""
    asking.admit(request, {})
    return asking.Json({"character_count": 0, "character_limit": 1_000_000_000_000})
