"""Functions that all interfaces share: they read fields, identify clients, choose models and report errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from treeglot.decode import Translation
from treeglot.web.detect import detect
from treeglot.web.guard import Figures
from treeglot.web.keys import Key, Keys, Meter
from treeglot.web.made import Made
from treeglot.web.options import ServeOptions
from treeglot.web.shelf import Served, Shelf
from treeglot.web.translate import InTurns, Wish, translate
from treeglot.web.work import BusyError, Workers

T = TypeVar("T")
Fields = dict[str, Any]
MOST_FIELDS = 1000


@dataclass
class Service:
    """Everything that handlers need. Forked processes share its meter and its files."""

    shelf: Shelf
    workers: Workers
    options: ServeOptions = field(default_factory=ServeOptions)
    keys: Keys | None = None
    require_key: bool = False
    suggestions: Any = None  # where they go, a `Suggestions`; None: nowhere
    dev: tuple[list[str], list[str]] = ([], [])  # sentences and references that corrections are checked with
    meter: Meter = field(default_factory=Meter)
    made: Made = field(default_factory=Made)
    figures: Figures = field(default_factory=Figures)

    def __post_init__(self) -> None:
        """Let the workers report their load to the metrics."""
        self.workers.tell = self.figures.sentences


def service_of(request: Request) -> Service:
    """Return the service that received a request."""
    found: Service = request.scope["service"]
    return found


def refuse(problem: str, status: int = 400, **headers: str) -> HTTPException:
    """Create an error for the client. The caller raises it."""
    return HTTPException(status, problem, headers or None)


class Json(Response):
    """A response of compact JSON. Characters beyond ASCII are not escaped."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Encode the content of the response."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


async def fields_of(request: Request) -> Fields:
    """Read the fields of a request from its JSON, its form, or its query. A repeated field becomes a list."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    fields: Fields = {}
    if request.method == "GET" or not kind:
        _add(fields, request.url.query)
        if request.method == "GET":
            return fields
    if kind == "multipart/form-data":
        async with request.form(max_files=1, max_fields=50, max_part_size=service_of(request).options.body) as form:
            return {name: await value.read() if hasattr(value, "read") else value for name, value in form.multi_items()}
    body = await _body(request)
    if kind == "application/json":
        return read_json(body)
    if kind in ("application/x-www-form-urlencoded", ""):
        try:
            _add(fields, body.decode())
        except UnicodeDecodeError as error:
            raise refuse("the form is not UTF-8") from error
        return fields
    raise refuse(f"the content type is {kind!r}; expected application/json or a form", 415)


async def _body(request: Request) -> bytes:
    parts = []
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _add(fields: Fields, text: str) -> None:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise refuse(f"the form cannot be read: {error}") from error
    for name, value in pairs:
        fields[name] = value if name not in fields else [*_listed(fields[name]), value]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def read_json(body: bytes) -> Fields:
    """Parse a request body, which must be a JSON object."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise refuse(f"the body is not JSON: {problem[:200]}") from error
    if not isinstance(found, dict):
        raise refuse("the body is not an object in JSON")
    return found


def key_of(request: Request, fields: Fields) -> str:
    """Return the key of a request, from a header or from the field `api_key`."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() in ("bearer", "deepl-auth-key") and value:
        return value.strip()
    return str(fields.get("api_key") or fields.get("auth_key") or "")


def admit(request: Request, fields: Fields, right: str = "translate", characters: int = 0) -> None:
    """Refuse clients that lack the right or have reached their limits."""
    service = service_of(request)
    given = key_of(request, fields)
    key: Key | None = None
    if service.keys is not None:
        key = service.keys.find(given) if given else None
        if given and key is None:
            raise refuse("Invalid API key", 403)
        if key is None and service.require_key:
            raise refuse("this needs an API key; ask the operator of the service for one", 403)
    if (right != "translate" or key is not None) and (key is None or right not in key.rights):
        raise refuse(f"this needs an API key with the right {right!r}", 403)
    if key is not None:
        request.state.log["key"] = key.name
        client, requests, most = f"key {key.name}", key.requests, key.characters
    else:
        host = request.client.host if request.client else ""
        client = f"host {host}"
        requests, most = service.options.requests_per_minute, service.options.characters_per_minute
    for what, amount, limit in (("requests", 1, requests), ("characters", characters, most)):
        wait = service.meter.take(f"{client} {what}", amount, limit)
        if wait:
            problem = f"Slowdown: at most {limit:,} {what} a minute; try again in {wait:.0f} s"
            raise refuse(problem, 429, **{"retry-after": f"{max(1, round(wait))}"})


def texts_of(request: Request, value: Any, name: str = "q") -> list[str]:
    """Return the texts of a field, which contains one or several. Too many or too long texts are refused."""
    options = service_of(request).options
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise refuse(f"{name} is not text; expected a string or a list of strings")
    if len(texts) > options.texts:
        raise refuse(f"Invalid request: request ({len(texts)}) exceeds text limit ({options.texts})")
    size = sum(map(len, texts))
    if size > options.characters:
        raise refuse(f"Invalid request: request ({size}) exceeds text limit ({options.characters})")
    if options.log_texts:
        request.state.log[name] = texts
    return [_clean(text) for text in texts]


def _clean(text: str) -> str:
    """Replace lone surrogates, which JSON can contain, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def model_for(request: Request, source: str, target: str, texts: Sequence[str]) -> tuple[list[Served], list[Any]]:
    """Choose the model for each text. If the source is `auto`, also return the likely languages.

    The languages of short texts are detected together, because a single short text is not conclusive.
    """
    shelf = service_of(request).shelf
    if source.lower() != "auto":
        return [_between(shelf, source, target)] * len(texts), []
    sources = [code for code in shelf.sources if shelf.between(code, target)]
    if not sources:
        raise refuse(f"{target} is not supported")
    overall = detect("\n".join(texts), sources)
    found = [detect(text, sources) if len(text) > 40 else overall for text in texts]
    return [_between(shelf, ranked[0][0], target) for ranked in found], [ranked[0] for ranked in found]


def _between(shelf: Shelf, source: str, target: str) -> Served:
    found = shelf.between(source, target)
    if found is None:
        known = ", ".join(sorted({f"{served.source} to {served.target}" for served in shelf}))
        raise refuse(f"{source} to {target} is not supported; expected {known}")
    return found


async def translated(request: Request, served: Served, text: str, wish: Wish = Wish()) -> Translation:  # noqa: B008
    """Translate a text with a model, in turn with other requests."""
    service = service_of(request)
    service.figures.translated(served.name, len(text))
    return await translate(service.workers, served.model, text, wish)


async def with_model(request: Request, served: Served, call: Callable[[Any], T]) -> T:
    """Call `call` with the model in a separate thread. Its sentences take turns with those of other requests."""
    model = InTurns(served.model, service_of(request).workers)
    try:
        return await asyncio.to_thread(call, model)
    finally:
        model.stop()


async def within(request: Request, work: Awaitable[T]) -> T:
    """Wait for `work`. If the client leaves or the time is up, cancel it."""
    seconds = service_of(request).options.deadline
    task = asyncio.current_task()
    assert task is not None
    problem: Exception | None = None
    over = False

    def stop(reason: Exception) -> None:
        nonlocal problem
        if problem is None and not over:
            problem = reason
            task.cancel()

    def left(leaving: asyncio.Future[None]) -> None:
        if not leaving.cancelled():
            stop(ClientDisconnect())

    leaving = asyncio.ensure_future(gone(request))
    leaving.add_done_callback(left)
    late = refuse(f"the request took longer than {seconds:g} s", 504)
    timer = asyncio.get_running_loop().call_later(seconds, stop, late)
    try:
        return await work
    except asyncio.CancelledError:
        if problem is None:
            raise
        getattr(task, "uncancel", int)()  # from Python 3.11 on, a task counts
        raise problem from None
    except BusyError as error:
        raise refuse(f"busy: {error}", 503, **{"retry-after": "1"}) from error
    finally:
        over = True
        timer.cancel()
        leaving.cancel()


async def gone(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
