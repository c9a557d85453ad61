"""Serves glossaries: terms for one request, and the glossary file in a model's folder."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from treeglot.base.errors import TreeglotError
from treeglot.base.files import write_binary
from treeglot.base.options import Options, from_table, option, required
from treeglot.decode.glossary import COLUMNS, Entry, Glossary
from treeglot.models.folder import GLOSSARY_FILE
from treeglot.rules.corrections import changing
from treeglot.web.asking import Fields, Json, admit, refuse
from treeglot.web.own import asked, named, refreshed
from treeglot.web.shelf import Served

MOST = 10_000  # entries
LONGEST = 500  # characters of a cell


@dataclass(frozen=True)
class GlossaryRequest(Options):
    """The fields of a request that replaces the glossary of a model."""

    entries: list[dict[str, Any]] = required("source, target, mode, case, forms and pos of each term")
    version: str = option("", "the version that they replace, as it was listed; another is left alone. Empty: any")
    model: str = option("", "the name of a model; empty: the first")
    api_key: str = option("", "the key, unless a header has it")


def listed(served: Served) -> Fields:
    """Return the glossary of a model."""
    own = served.model.glossary
    entries = own.entries if own is not None else ()
    shown = {"version": _version(entries), "entries": [asdict(entry) for entry in entries]}
    return {"model": served.name, "digest": served.digest, **shown}


async def glossaries(request: Request) -> Response:
    """Answer `GET /v1/glossaries` with the glossaries of the models."""
    admit(request, {})
    return Json({"glossaries": [listed(served) for served in await refreshed(request)]})


async def keep(request: Request) -> Response:
    """Answer `POST /v1/glossaries`: replace the glossary of a model. This needs the right to correct."""
    wanted, fields = await asked(request, GlossaryRequest)
    admit(request, fields, "correct")
    served = named(request, wanted.model)
    if len(wanted.entries) > MOST:
        raise refuse(f"{len(wanted.entries):,} entries; expected at most {MOST:,}")
    try:
        entries = tuple(_entry(entry) for entry in wanted.entries)
        served.model.reader.bind(Glossary(entries))
    except TreeglotError as error:
        raise refuse(str(error)) from error
    await asyncio.to_thread(_write, served, entries, wanted.version)
    return Json(listed((await refreshed(request)).named(served.name)))


def _entry(given: Mapping[str, Any]) -> Entry:
    """Create an entry from the fields of a request. A line of the file must be able to hold it."""
    made: Entry = from_table(Entry, given)
    for cell in (made.source, made.target, made.pos, *made.forms):
        if len(cell) > LONGEST or not cell.isprintable() or cell.startswith("#") or "|" in cell:
            raise refuse(f"{cell[:40]!r} cannot be a term; expected at most {LONGEST} characters, no #, | or tab")
    return made


def _lines(entries: tuple[Entry, ...]) -> bytes:
    """Encode entries as the lines of a glossary file."""
    lines = ["\t".join(COLUMNS)]
    for entry in entries:
        values = asdict(entry) | {"forms": "|".join(entry.forms)}
        lines.append("\t".join(values[name] for name in COLUMNS))
    return ("\n".join(lines) + "\n").encode()


def _version(entries: tuple[Entry, ...]) -> str:
    return blake2b(_lines(entries), digest_size=8).hexdigest()


def _held(path: Path) -> tuple[Entry, ...]:
    try:
        return Glossary.read(path).entries if path.exists() else ()
    except TreeglotError as error:
        raise refuse(str(error), 409) from error


def _write(served: Served, entries: tuple[Entry, ...], version: str) -> None:
    """Replace the glossary file. If it has changed since the given version, refuse."""
    path = served.model.directory / GLOSSARY_FILE
    with changing(path):
        if version and version != _version(_held(path)):
            raise refuse("somebody has changed the glossary meanwhile; look at it again, then change it", 409)
        with write_binary(path) as stream:
            stream.write(_lines(entries))
