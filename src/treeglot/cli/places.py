"""Where a command's files are, if not on this machine: what a URI names is copied here before, or there afterwards.

Text is read from its URI as it comes, without a copy (`base/storage.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from treeglot.base.errors import UsageError
from treeglot.base.files import check_output
from treeglot.base.storage import (
    cache_folder,
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


@contextmanager
def placed(
    values: Mapping[str, Any], written: Mapping[str, bool], mapped: Collection[str], changed: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The values of a command's parameters, with files of this machine where it needs them.

    `written` has the parameters that name what it writes, and whether that is a folder. They are checked, and copied to
    their URIs when the block ends without an error. An interrupted command leaves what it wrote for the next one.
    `mapped` are parameters whose files are mapped into memory. Those of `changed` must be here, because they are
    changed in place.
    """
    out = {name: _plain(value) for name, value in values.items()}
    for name in changed:
        if isinstance(out[name], Path) and is_remote(out[name]):
            problem = "is changed in place; expected a folder of this machine"
            raise UsageError(f"{name.upper()} {find_uri(out[name])} {problem}")
    uploads: dict[Path, tuple[str, bool]] = {}
    for name, folder in written.items():
        if out[name] is not None:
            check_output(out[name], folder)
            if is_remote(out[name]):
                uri = str(find_uri(out[name]))
                if folder and is_complete(uri):
                    raise UsageError(f"{uri} has a complete folder; expected none there, or another name")
                out[name] = _aside(uri)
                uploads[out[name]] = uri, folder
    for name in mapped:
        out[name] = _fetched(out[name])
    try:
        yield out
    except BaseException:
        for path in uploads:
            with suppress(OSError):  # it holds what a later run continues from
                path.parent.rmdir()
        raise
    for path, (uri, folder) in uploads.items():
        if path.exists():
            upload_folder(path, uri) if folder else upload_file(path, uri)
            say(f"{uri}: written")
        shutil.rmtree(path.parent)


def _plain(value: Any) -> Any:
    """A value with paths of this machine in place of `file://`. Unknown schemes are refused."""
    if isinstance(value, Path):
        return Path(plain_path(value))
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value


def _fetched(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_fetched, value))
    return fetch(value, report=say) if isinstance(value, Path) else value


def _aside(uri: str) -> Path:
    """Where what goes to a URI is written first; the same place for the same URI."""
    folder = cache_folder() / "written" / blake2b(uri.encode(), digest_size=8).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / without_query(uri).rstrip("/").rpartition("/")[2]
