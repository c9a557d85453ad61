"""Parsers of other packages behind the `Parser` protocol; each package is an optional extra of its own.

    pip install treeglot[udpipe]      UDPipe 1 models
    pip install treeglot[spacy]       spaCy pipelines with a parser
    pip install treeglot[stanza]      Stanza's pipelines
    pip install treeglot[supar]       SuPar's dependency parsers
    pip install treeglot[benepar]     the Berkeley Neural Parser: trees

>>> sorted(ADAPTERS)
['benepar', 'spacy', 'stanza', 'supar', 'udpipe']
>>> open_parser("malt", "model")
Traceback (most recent call last):
treeglot.base.errors.UsageError: unknown parser 'malt'; known: benepar, spacy, stanza, supar, udpipe
"""

from __future__ import annotations

from collections.abc import Callable

from treeglot._core import Dependency, Tree
from treeglot.base.errors import UsageError
from treeglot.base.options import unknown
from treeglot.parse.adapters.benepar import BeneparParser
from treeglot.parse.adapters.spacy import SpacyParser
from treeglot.parse.adapters.stanza import StanzaParser
from treeglot.parse.adapters.supar import SuparParser
from treeglot.parse.adapters.udpipe import UdpipeParser
from treeglot.parse.protocol import Parser

__all__ = ["ADAPTERS", "BeneparParser", "SpacyParser", "StanzaParser", "SuparParser", "UdpipeParser", "open_parser"]

ADAPTERS: dict[str, Callable[[str], Parser[Dependency | Tree]]] = {
    "benepar": BeneparParser.load,
    "spacy": SpacyParser.load,
    "stanza": StanzaParser.load,
    "supar": SuparParser.load,
    "udpipe": UdpipeParser.load,
}
"""By name: from a model, its file or name as the package knows it, to a parser."""


def open_parser(name: str, model: str) -> Parser[Dependency | Tree]:
    """A parser of another package; a package or model that is not there is a `UsageError` that says what to do."""
    if name not in ADAPTERS:
        raise UsageError(unknown("parser", name, ADAPTERS))
    return ADAPTERS[name](model)
