"""Options for serving models. Most of them limit single requests."""

from __future__ import annotations

from dataclasses import dataclass

from treeglot.base.options import Options, option


@dataclass(frozen=True)
class ServeOptions(Options):
    """Limits that protect the service from large or slow requests."""

    characters: int = option(20_000, "characters of one request, at most", least=1)
    texts: int = option(100, "texts of one request, at most", least=1)
    alternatives: int = option(20, "alternatives of one text, at most", least=0)
    body: int = option(2_000_000, "bytes of a request's body, at most", least=1000)
    deadline: float = option(60.0, "seconds for one request, after which it fails", above=0)
    time_limit: float = option(
        10.0, "seconds of CPU to search one sentence, unless the model says otherwise; 0: none", least=0
    )
    patience: float = option(10.0, "seconds for a client to send its headers, and again for the body", above=0)
    waiting: int = option(20_000, "sentences that may wait; beyond that, requests are refused", least=1)
    connections: int = option(1000, "connections at a time, at most", least=1)
    requests_per_minute: int = option(0, "requests of a client without a key in a minute; 0: any number", least=0)
    characters_per_minute: int = option(0, "characters of a client without a key in a minute; 0: any number", least=0)
    drain: float = option(30.0, "seconds that running requests get when the service ends", least=0)
    reload: float = option(1.0, "seconds between two looks at the models' folders; 0: never look", least=0)
    log_texts: bool = option(False, "write the texts of requests to the log")
