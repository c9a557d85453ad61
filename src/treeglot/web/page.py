"""The workbench, a page in the browser. Its files are part of the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from treeglot.syntax.draw.page import DRAWN, SCRIPT
from treeglot.web.asking import refuse

KINDS = {"workbench.css": "text/css", "workbench.js": "text/javascript"}
DRAWINGS = {"drawn.css": ("text/css", DRAWN), "drawn.js": ("text/javascript", SCRIPT)}  # as on all other pages


@cache
def _file(name: str) -> str:
    return (files("treeglot.web") / "static" / name).read_text(encoding="utf-8")


async def index(request: Request) -> Response:
    """Answer `GET /` with the page."""
    return Response(_file("index.html"), media_type="text/html")


async def static(request: Request) -> Response:
    """Answer `GET /static/NAME`. Only known names are served."""
    name = request.path_params["name"]
    if name in DRAWINGS:
        return Response(DRAWINGS[name][1], media_type=DRAWINGS[name][0])
    if name not in KINDS:
        raise refuse("Not Found", 404)
    return Response(_file(name), media_type=KINDS[name])
