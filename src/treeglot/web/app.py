"""Joins all interfaces to one ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from treeglot.base.errors import TreeglotError
from treeglot.web import apertium, deepl, explain, libretranslate, own, page, rules, terms, why
from treeglot.web.asking import Json, Service, service_of
from treeglot.web.guard import Guard
from treeglot.web.memory import give_back_often
from treeglot.web.openapi import specification

log = logging.getLogger("treeglot.web")

DOCUMENTS = 64  # that are taken apart and put together at a time
Handler = Callable[[Request], Awaitable[Response]]


def _route(path: str, handler: Handler, method: str = "POST", name: str | None = None) -> Route:
    """Return a route whose pattern is logged, instead of the path that a client sent."""

    async def handle(request: Request) -> Response:
        request.state.route = path
        request.state.log = {}
        try:
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody hears this
        except Exception as error:
            return await _problem(request, error)

    return Route(path, handle, methods=[method], name=name)


async def metrics(request: Request) -> Response:
    """Answer `GET /metrics` with figures for Prometheus."""
    return Response(service_of(request).figures.show(), media_type=CONTENT_TYPE_LATEST)


async def spec(request: Request) -> Response:
    """Answer `GET /spec` with the OpenAPI description of the service."""
    import treeglot

    return Json(specification(treeglot.__version__))


ROUTES = [
    _route("/translate", libretranslate.translate),
    _route("/translate", apertium.translate, "GET"),
    _route("/languages", libretranslate.languages, "GET"),
    _route("/detect", libretranslate.detect),
    _route("/suggest", libretranslate.suggest),
    _route("/health", libretranslate.health, "GET"),
    _route("/frontend/settings", libretranslate.settings, "GET"),
    _route("/translate_file", libretranslate.translate_file),
    _route("/download_file/{secret}", libretranslate.download, "GET", "download"),
    _route("/listPairs", apertium.list_pairs, "GET"),
    _route("/list", apertium.list_modes, "GET"),
    _route("/v2/translate", deepl.translate),
    _route("/v2/languages", deepl.languages, "GET"),
    _route("/v2/usage", deepl.usage, "GET"),
    _route("/v1/translate", own.translate_texts),
    _route("/v1/models", own.models, "GET"),
    _route("/v1/explain", explain.explain),
    _route("/v1/why", why.why),
    _route("/v1/provenance", why.provenance),
    _route("/v1/glossaries", terms.glossaries, "GET"),
    _route("/v1/glossaries", terms.keep),
    _route("/v1/rules", rules.rules),
    _route("/v1/corrections", rules.corrections, "GET"),
    _route("/v1/corrections", rules.correct),
    _route("/v1/corrections/undo", rules.undo),
    _route("/v1/corrections/check", rules.check),
    _route("/v1/learn", rules.learn),
    _route("/v1/suggestions", rules.suggestions, "GET"),
    _route("/", page.index, "GET"),
    _route("/static/{name}", page.static, "GET"),
    _route("/metrics", metrics, "GET"),
    _route("/spec", spec, "GET"),
]


async def _problem(request: Request, error: Exception) -> Response:
    """Return an error as JSON. LibreTranslate and /v1/ read it from `error`, DeepL and Apertium from `message`."""
    status, headers = 400, None
    if isinstance(error, HTTPException):
        status, headers, text = error.status_code, error.headers, error.detail
    elif isinstance(error, TreeglotError):
        text = str(error)
    else:
        own_id = request.scope.get("state", {}).get("id", "")
        log.error("bug", exc_info=error, extra={"fields": {"id": own_id}})
        status, text = 500, f"something went wrong here; the log says more under the id {own_id}"
    return Json({"error": text, "message": text}, status, headers)


class Routed:
    """Passes a request to the handler of its path. Starlette, which is slower, handles parameters and wrong paths."""

    def __init__(self, app: Starlette, service: Service) -> None:
        self._app = app
        self._service = service
        self._handlers = {
            (method, route.path): route.endpoint
            for route in ROUTES
            for method in route.methods or ()
            if "{" not in route.path
        }

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass one request to its handler."""
        handler = self._handlers.get((scope.get("method"), scope.get("path")))
        scope["service"] = self._service
        if handler is None:
            await self._app(scope, receive, send)
            return
        scope["app"] = self._app  # where forms and addresses look
        response = await handler(Request(scope, receive, send))
        await response(scope, receive, send)


def make_app(service: Service) -> Any:
    """Create the application of a service."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(DOCUMENTS))
        seconds = service.options.reload
        running = [asyncio.create_task(give_back_often())]
        running += [asyncio.create_task(service.shelf.watch(seconds))] if seconds else []
        yield
        for task in running:
            task.cancel()
        service.workers.end()

    app = Starlette(routes=ROUTES, exception_handlers={HTTPException: _problem}, lifespan=lifespan)
    return Guard(Routed(app, service), service.options, service.figures)
