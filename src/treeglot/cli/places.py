"""Copies remote inputs of a command to this machine before it runs, and its outputs to their URIs afterwards.

Text files are not copied: they are read directly from their URIs (`base/storage.py`).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from treeglot.base.errors import TreeglotError, UsageError, shown
from treeglot.base.files import check_output
from treeglot.base.locks import locked
from treeglot.base.storage import (
    SCHEMES,
    StorageError,
    cache_folder,
    exists,
    fetch,
    find_uri,
    is_complete,
    is_remote,
    plain_path,
    upload_file,
    upload_folder,
    without_query,
)
from treeglot.cli.output import say

# Where a URI begins in text such as NAME=URI, URI=FILE or ADAPTER:URI, and what a whole one is. A key may have "=", and
# so have settings, whose values have none.
_BEGIN = re.compile(rf"(?:^|=|^\w+:)(?=(?:{'|'.join(SCHEMES)}):/)")
_WHOLE = re.compile(r"\w+:/+[^?]+(?:\?\w+=[^=&]*(?:&\w+=[^=&]*)*)?")


@contextmanager
def placed(
    values: Mapping[str, Any],
    written: Mapping[str, bool],
    mapped: Collection[str],
    changed: Collection[str],
    here_only: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the values of a command's parameters, with remote files replaced by local copies where needed.

    `written` maps the parameters that name outputs to whether the output is a folder. Outputs are checked first, and
    copied to their URIs when the block ends. If an error occurs, files that are already complete are copied, too. An
    interrupted command leaves its output for the next one. `mapped` names parameters whose files are mapped into
    memory, and `changed` those whose files are changed in place, and so must be local. Both can be text such as
    NAME=URI. URIs in `here_only` are refused, too.
    """
    out = {name: _plain(value) for name, value in values.items()}
    refused = dict.fromkeys(changed, "is changed in place; expected a folder of this machine")
    refused |= dict.fromkeys(here_only, "is elsewhere; expected a file or folder of this machine")
    for name, problem in refused.items():
        for uri in _remote(out[name]):
            raise UsageError(f"{name.upper()} {shown(uri)} {problem}")
    with ExitStack() as held:
        uploads: list[_Upload] = []
        for name, folder in written.items():
            if out[name] is not None:
                check_output(out[name], folder)
                if is_remote(out[name]):
                    uri = str(find_uri(out[name]))
                    if folder and is_complete(uri):
                        raise UsageError(f"{shown(uri)} has a complete folder; expected none there, or another name")
                    out[name] = _aside(uri, held)
                    uploads.append(_Upload(out[name], uri, folder, _state(out[name])))
        for name in mapped:
            out[name] = _fetched(out[name])
        try:
            yield out
        except BaseException as error:
            for upload in uploads:
                upload.keep(error)
            raise
        for upload in uploads:
            upload.send()


@dataclass(frozen=True)
class _Upload:
    """An output that is copied to its URI when the command ends."""

    path: Path
    uri: str
    folder: bool
    before: tuple[int, int] | None  # the state of the path when the command began

    def send(self) -> None:
        """Copy the output to its URI, and remove the local file. An error names the local file."""
        if self.path.exists():
            try:
                upload_folder(self.path, self.uri) if self.folder else upload_file(self.path, self.uri)
            except (OSError, TreeglotError) as error:
                raise StorageError(f"{error}; the output is in {self.path}") from error
            except BaseException:
                self._tell()
                raise
            say(f"{shown(self.uri)}: written")
        shutil.rmtree(self.path.parent)

    def keep(self, error: BaseException) -> None:
        """Send a file that was complete before the command failed. Otherwise, name the files that remain here."""
        if isinstance(error, Exception) and not self.folder and _state(self.path) not in (None, self.before):
            try:
                self.send()
            except StorageError as problem:
                say(str(problem))
        elif self.path.exists():
            self._tell()
        else:
            with suppress(OSError):  # it holds what a later run continues from
                self.path.parent.rmdir()

    def _tell(self) -> None:
        say(f"{shown(self.uri)}: not written; the output is in {self.path}")


def _plain(value: Any) -> Any:
    """Replace `file://` URIs in a value by local paths. Unknown schemes are errors."""
    if isinstance(value, Path):
        return Path(plain_path(value))
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value


def _remote(value: Any) -> list[str]:
    """Return the remote URIs in a value."""
    if isinstance(value, list | tuple):
        return [uri for each in value for uri in _remote(each)]
    if isinstance(value, str):
        return [str(find_uri(part)) for part in _split(value, lambda uri: True)[1::2] if is_remote(part)]
    return [str(find_uri(value))] if isinstance(value, Path) and is_remote(value) else []


def _fetched(value: Any) -> Any:
    """Replace the URIs in a value by the paths of local copies."""
    if isinstance(value, list | tuple):
        return type(value)(map(_fetched, value))
    if isinstance(value, str):
        parts = _split(value, exists)
        return "".join(str(fetch(part, report=say)) if place % 2 else part for place, part in enumerate(parts))
    return fetch(value, report=say) if isinstance(value, Path) else value


def _split(text: str, is_there: Callable[[str], bool]) -> list[str]:
    """Split text into parts that are URIs and parts that are not, in turn. A URI ends before "=" or at the end.

    If several ends are possible, the last one wins for which `is_there` finds the URI. If there is none, the URI is as
    long as possible, so that an error shows all of it.
    """
    out = [text]
    while (begun := _BEGIN.search(out[-1])) is not None:
        rest = out[-1][begun.end() :]
        following = _BEGIN.search(rest, 1)
        longest = len(rest) if following is None else following.start()
        ends = [longest, *(place for place in range(longest - 1, 0, -1) if rest[place] == "=")]
        possible = [end for end in ends if _WHOLE.fullmatch(rest, 0, end)] or [longest]
        end = possible[0] if len(possible) == 1 else next((e for e in possible if is_there(rest[:e])), possible[0])
        out[-1:] = [out[-1][: begun.end()], rest[:end], rest[end:]]
    return out


def _aside(uri: str, held: ExitStack) -> Path:
    """Return the local path where the output of a URI is written first. It is locked until `held` is closed."""
    folder = cache_folder() / "written" / blake2b(uri.encode(), digest_size=8).hexdigest()
    held.enter_context(
        locked(folder.with_suffix(".lock"), f"another command writes {shown(uri)}; expected one at a time")
    )
    folder.mkdir(parents=True, exist_ok=True)
    return folder / without_query(uri).rstrip("/").rpartition("/")[2]


def _state(path: Path) -> tuple[int, int] | None:
    """Return the size and the time of a file, which change when it is rewritten."""
    return (path.stat().st_ino, path.stat().st_mtime_ns) if path.exists() else None
