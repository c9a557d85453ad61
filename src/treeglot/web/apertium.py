"""Apertium's interface (APy), which OmegaT and Weblate use. https://wiki.apertium.org/wiki/Apertium-apy"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from treeglot.web.asking import Fields, Json, admit, fields_of, refuse, service_of, texts_of, translated, within
from treeglot.web.languages import long, normal
from treeglot.web.translate import marked


def envelope(data: Any) -> Response:
    """Wrap data in the form of every Apertium answer."""
    return Json({"responseData": data, "responseDetails": None, "responseStatus": 200})


async def translate(request: Request) -> Response:
    """Answer `GET /translate?q=…&langpair=a|b&markUnknown=yes` with a translation."""
    return await answer(request, await fields_of(request))


async def answer(request: Request, fields: Fields) -> Response:
    """Translate the field `q`. Words that no rule translates get a star, unless `markUnknown` is no."""
    q = fields.get("q")
    if not isinstance(q, str):
        raise refuse("Missing arguments: q")
    source, bar, target = str(fields.get("langpair", "")).partition("|")
    if not bar:
        raise refuse("That pair is invalid, use e.g. eng|spa")
    texts_of(request, q)
    admit(request, fields, characters=len(q))
    served = service_of(request).shelf.between(source, target)
    if served is None:
        raise refuse("That pair is not installed")
    found = await within(request, translated(request, served, q))
    plain = str(fields.get("markUnknown", "yes")).lower() in ("no", "false", "0")
    return envelope({"translatedText": found.text if plain else marked(found)})


async def list_pairs(request: Request) -> Response:
    """Answer `GET /listPairs` with three-letter codes. With `include_deprecated_codes`, add two-letter codes."""
    pairs = []
    for served in service_of(request).shelf:
        names = [(long(served.source), long(served.target))]
        if "include_deprecated_codes" in request.query_params:
            names.append((normal(served.source), normal(served.target)))
        pairs += [pair for pair in names if pair not in pairs]
    return envelope([{"sourceLanguage": source, "targetLanguage": target} for source, target in pairs])


async def list_modes(request: Request) -> Response:
    """Answer `GET /list?q=pairs` with the pairs of languages."""
    if request.query_params.get("q", "pairs") != "pairs":
        raise refuse("Expecting q argument to be one of pairs")
    return await list_pairs(request)
