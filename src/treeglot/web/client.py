"""A client for the service's own interface. It uses only the standard library.

from treeglot.web.client import Client

client = Client("http://127.0.0.1:5000/", key="tg-…")
client.translate("小屋")
for sentence in client.sentences(document, trace=True):
    print(sentence["text"], sentence["alignment"])
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

from treeglot.base.errors import FormatError, TreeglotError
from treeglot.base.files import parse_json, parse_value


class Client:
    """A service, by its address and an optional key."""

    def __init__(self, address: str, key: str = "", timeout: float = 120.0) -> None:
        self.address = address.rstrip("/")
        self.timeout = timeout
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}

    def _open(self, path: str, fields: dict[str, Any] | None = None) -> Any:
        body = None if fields is None else json.dumps(fields).encode()
        request = urllib.request.Request(f"{self.address}/v1/{path}", body, self._headers)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            with closing(error):
                raise TreeglotError(_problem(error, self.address)) from error

    def ask(self, path: str, **fields: Any) -> Any:
        """Send any request of docs/serving.md: `client.ask("explain", q=…)`. Without fields, it is a GET."""
        with self._open(path, fields or None) as answer:
            return parse_value(answer.read(), self.address)

    def translate(self, text: str, **fields: Any) -> str:
        """Translate a text, and return only its translation."""
        found: str = self.ask("translate", q=text, **fields)["translations"][0]["text"]
        return found

    def sentences(self, text: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """Yield the translations of a text's sentences as soon as they are ready."""
        with self._open("translate", {"q": text, "stream": True, **fields}) as answer:
            for line in answer:
                entry = parse_json(line, self.address)
                if "error" in entry:
                    raise TreeglotError(entry["error"])
                if "done" not in entry:
                    yield entry


def _problem(error: urllib.error.HTTPError, address: str) -> str:
    """Return the error message of a failed request, from the service or from a proxy in front of it."""
    with suppress(FormatError):
        return str(parse_json(error.read(), address, error=str)["error"])
    return f"{address}: the answer is {error.code} {error.reason} without an error in JSON; expected Treeglot's service"
