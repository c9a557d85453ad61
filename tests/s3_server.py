"""A server that speaks as much of S3's protocol as Arrow's file system asks for, with objects in memory.

It checks no signatures, only the name of the access key. It has GET with ranges, HEAD, PUT, DELETE, copies, uploads in
parts and lists of objects.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

KEY = "tester"


class Store:
    """The buckets, what was asked for, and what goes wrong on purpose."""

    def __init__(self) -> None:
        self.buckets: dict[str, dict[str, bytes]] = {"data": {}}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.refuse = ""  # the method of requests that fail, or none
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    """Answers one request after the other on a connection."""

    protocol_version = "HTTP/1.1"
    store: Store

    def log_message(self, *details: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        bucket, key, query = self._place()
        if bucket is None:
            return
        if not key:
            self._list(bucket, query.get("prefix", ""), query.get("delimiter", ""))
        elif key not in self.store.buckets[bucket]:
            self._fail(404, "NoSuchKey")
        else:
            content = self.store.buckets[bucket][key]
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if wanted:
                begin, end = int(wanted[1]), min(int(wanted[2]) + 1, len(content))
                self._answer(206, content[begin:end], {"Content-Range": f"bytes {begin}-{end - 1}/{len(content)}"})
            else:
                self._answer(200, content, _described(content))

    def do_HEAD(self) -> None:
        bucket, key, _ = self._place()
        if bucket is None:
            return
        if key and key not in self.store.buckets[bucket]:
            self._fail(404, "NoSuchKey")
        else:
            content = self.store.buckets[bucket][key] if key else b""
            self._answer(200, content, _described(content))

    def do_PUT(self) -> None:
        body = self._body()
        bucket, key, query = self._place()
        if bucket is None:
            return
        if source := self.headers.get("x-amz-copy-source"):
            other, _, name = unquote(source).lstrip("/").partition("/")
            self.store.buckets[bucket][key] = self.store.buckets[other][name]
            self._answer(200, b"<CopyObjectResult><ETag>&quot;x&quot;</ETag></CopyObjectResult>")
        elif "uploadId" in query:
            self.store.uploads[query["uploadId"]][int(query["partNumber"])] = body
            self._answer(200, b"", {"ETag": f'"{md5(body).hexdigest()}"'})
        else:
            self.store.buckets[bucket][key] = body
            self._answer(200, b"", {"ETag": f'"{md5(body).hexdigest()}"'})

    def do_POST(self) -> None:
        self._body()
        bucket, key, query = self._place()
        if bucket is None:
            return
        if "uploads" in query:
            name = f"upload{len(self.store.uploads)}"
            self.store.uploads[name] = {}
            told = f"<UploadId>{name}</UploadId><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>"
            self._answer(200, f"<InitiateMultipartUploadResult>{told}</InitiateMultipartUploadResult>".encode())
        elif "delete" in query:
            self._answer(200, b"<DeleteResult/>")
        else:
            parts = self.store.uploads.pop(query["uploadId"])
            self.store.buckets[bucket][key] = b"".join(parts[number] for number in sorted(parts))
            told = f"<Key>{escape(key)}</Key><ETag>&quot;x&quot;</ETag>"
            self._answer(200, f"<CompleteMultipartUploadResult>{told}</CompleteMultipartUploadResult>".encode())

    def do_DELETE(self) -> None:
        bucket, key, _ = self._place()
        if bucket is not None:
            self.store.buckets[bucket].pop(key, None)
            self._answer(204)

    def _place(self) -> tuple[str | None, str, dict[str, str]]:
        """The bucket, the key and the settings that are asked for; no bucket where the request was refused."""
        split = urlsplit(self.path)
        bucket, _, key = unquote(split.path).lstrip("/").partition("/")
        query = {name: values[0] for name, values in parse_qs(split.query, keep_blank_values=True).items()}
        self.store.asked.append(f"{self.command} {bucket}/{key}")
        if f"Credential={KEY}/" not in self.headers.get("Authorization", ""):
            self._fail(403, "AccessDenied")
        elif bucket not in self.store.buckets:
            self._fail(404, "NoSuchBucket")
        elif self.command == self.store.refuse:
            self._fail(400, "EntityTooLarge")
        else:
            return bucket, key, query
        return None, "", {}

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            body = _unchunked(body)
        return body

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().partition(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _list(self, bucket: str, prefix: str, delimiter: str) -> None:
        names = [name for name in sorted(self.store.buckets[bucket]) if name.startswith(prefix)]
        folders = {prefix + name[len(prefix) :].partition("/")[0] + "/" for name in names if "/" in name[len(prefix) :]}
        if not delimiter:
            folders = set()
        kept = [name for name in names if not any(name.startswith(folder) for folder in folders)]
        contents = "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>{len(self.store.buckets[bucket][name])}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for name in kept
        )
        common = "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in sorted(folders))
        told = f"<Name>{bucket}</Name><KeyCount>{len(kept) + len(folders)}</KeyCount><IsTruncated>false</IsTruncated>"
        self._answer(200, f"<ListBucketResult>{told}{contents}{common}</ListBucketResult>".encode())

    def _fail(self, status: int, code: str) -> None:
        told = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
        self._answer(status, told)

    def _answer(self, status: int, body: bytes = b"", more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            with suppress(BrokenPipeError):  # whoever asked waits no longer, and asks again
                self.wfile.write(body)


def _described(content: bytes) -> dict[str, str]:
    stamp = md5(content).hexdigest()
    return {"ETag": f'"{stamp}"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


def _unchunked(body: bytes) -> bytes:
    """What a body in chunks of AWS's own kind holds."""
    out = b""
    while body:
        head, _, rest = body.partition(b"\r\n")
        size = int(head.partition(b";")[0], 16)
        if not size:
            break
        out, body = out + rest[:size], rest[size + 2 :]
    return out


@contextmanager
def s3_server() -> Iterator[tuple[Store, int]]:
    """A server with an empty bucket `data`, and its port."""
    handler = type("Handler", (Handler,), {"store": Store()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield handler.store, server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
