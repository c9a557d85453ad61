"""Holds the models that are served."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import unknown
from treeglot.models import Model, load
from treeglot.models.folder import GLOSSARY_FILE
from treeglot.rules.corrections import CORRECTIONS
from treeglot.text.languages import find_languages
from treeglot.web.languages import candidates, normal

log = logging.getLogger("treeglot.web")
_loading = threading.Lock()  # the log has the warnings in the meantime

Stamp = tuple[tuple[str, int, int], ...]
EDITED = (CORRECTIONS, GLOSSARY_FILE)
HEAD = 65_536  # bytes of a file that its digest is made of: binary files begin with the checksums of what they hold


@dataclass(frozen=True)
class Served:
    """A model with its name and languages. When a translation may have changed, `digest` changes."""

    name: str
    model: Model
    source: str
    target: str
    digest: str
    stamp: Stamp

    @cached_property
    def pair(self) -> tuple[str, str]:
        """The languages of the model, as `normal` returns them."""
        return normal(self.source), normal(self.target)


def stamp_of(folder: Path) -> Stamp:
    """Return the files of a folder with their sizes and times.

    Hidden files are left out, because they are being written.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not any(part.startswith(".") for part in name.parts):
            try:
                status = path.stat()
            except OSError:  # it went away in between
                continue
            if path.is_file():
                found.append((str(name), status.st_size, status.st_mtime_ns))
    return tuple(found)


def _digest(folder: Path, stamp: Stamp, options: object) -> str:
    """Return a digest of a model's folder.

    It covers the headers and sizes of all files, and the full content of files that people edit.
    """
    made = blake2b(repr(options).encode(), digest_size=8)
    for name, size, _ in stamp:
        with (folder / name).open("rb") as stream:
            made.update(f"{name} {size} ".encode() + stream.read(-1 if name in EDITED else HEAD))
    return made.hexdigest()


def open_served(place: str, time_limit: float = 0.0) -> Served:
    """Load the model of a folder, or of `SOURCE-TARGET=FOLDER`, which names its languages.

    If the model takes text, it knows its languages. `time_limit` applies if the model itself has no limit.
    """
    languages, equals, path = ("", "", place) if Path(place).is_dir() else place.partition("=")
    folder = Path(path if equals else place)
    stamp = stamp_of(folder)
    with _loading, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load(folder, wait=True)  # damage must not replace a model that serves
    for each in caught:
        log.warning("model warning", extra={"fields": {"model": folder.name, "problem": str(each.message)}})
    options = model.translator.options
    if time_limit and not options.time_limit:
        model = model.with_search(dataclasses.replace(options, time_limit=time_limit))
    if equals:
        source, target = (language.code for language in find_languages(languages))
    elif model.text is not None:
        source, target = model.text.source.language.code, model.text.target.language.code
    else:
        raise UsageError(f"{folder} takes words and says no languages; expected them before it: de-en={folder}")
    return Served(folder.resolve().name, model, source, target, _digest(folder, stamp, model.translator.options), stamp)


class Shelf:
    """The models by name and by languages. If several models have the same languages, the first one serves them."""

    def __init__(self, places: Sequence[str], time_limit: float = 0.0) -> None:
        """Load the models. Each of `places` is a folder, or `SOURCE-TARGET=FOLDER`."""
        self._places = tuple(places)
        self._time_limit = time_limit
        self._served = tuple(open_served(place, time_limit) for place in places)
        self._lock = threading.Lock()
        self._refused: dict[int, Stamp] = {}
        names = [served.name for served in self._served]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"two models are called {name!r}; expected folders with different names")

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served)

    def __len__(self) -> int:
        return len(self._served)

    def named(self, name: str) -> Served:
        """Find a model by its name."""
        found = next((served for served in self._served if served.name == name), None)
        if found is None:
            raise UsageError(unknown("model", name, [served.name for served in self._served]))
        return found

    def between(self, source: str, target: str) -> Served | None:
        """Find the first model for two languages, given by codes in the forms of clients."""
        pairs = [(a, b) for a in candidates(source) for b in candidates(target)]
        for wanted in pairs:
            for served in self._served:
                if served.pair == wanted:
                    return served
        bare = ((served, tuple(code.partition("-")[0] for code in served.pair)) for served in self._served)
        return next((served for served, pair in bare if pair in pairs), None)

    @property
    def sources(self) -> list[str]:
        """The languages that models translate from, in the order of the models."""
        return list(dict.fromkeys(served.source for served in self._served))

    def targets(self, source: str) -> list[str]:
        """Return the languages that models translate `source` to."""
        return list(dict.fromkeys(served.target for served in self._served if served.source == source))

    @property
    def languages(self) -> list[str]:
        """All languages, beginning with those that models translate from."""
        return list(dict.fromkeys([*self.sources, *(served.target for served in self._served)]))

    def refresh(self) -> list[str]:
        """Load the models whose folders have changed, and return their names.

        Running requests keep the old model. If a folder cannot be loaded, its old model stays.
        """
        changed = []
        with self._lock:
            for number, served in enumerate(self._served):
                stamp = stamp_of(served.model.directory)
                if stamp in (served.stamp, self._refused.get(number)):
                    continue
                try:
                    new = open_served(self._places[number], self._time_limit)
                except (TreeglotError, OSError) as error:
                    self._refused[number] = stamp
                    log.error("model not loaded again", extra={"fields": {"model": served.name, "problem": str(error)}})
                    continue
                self._served = (*self._served[:number], new, *self._served[number + 1 :])
                changed.append(new.name)
                log.info("model loaded again", extra={"fields": {"model": new.name, "digest": new.digest}})
        return changed

    async def watch(self, seconds: float) -> None:
        """Check the folders at regular intervals."""
        while True:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(self.refresh)
