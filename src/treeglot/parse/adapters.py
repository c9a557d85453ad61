"""Adapters for parsers of other packages. Each package is an optional extra. All implement the protocol `Parser`.

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

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from treeglot._core import Dependency, Tree
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import unknown
from treeglot.parse.protocol import Parser

__all__ = ["ADAPTERS", "open_parser"]

BATCH = 64  # sentences that a package is given at a time

T = TypeVar("T", Dependency, Tree)


class Adapter(ABC, Generic[T]):
    """A loaded model of another package. Subclasses parse batches of sentences that have words."""

    gives: type[T]
    refusal: ClassVar[str]  # what to say of a model that the package cannot load

    def __init__(self, model: Any, name: str) -> None:
        self.model = model
        self.name = name

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[T]:
        """Yield the parse of each sentence. A sentence without words has an empty parse."""
        rest = iter(sentences)
        while batch := [list(words) for words in islice(rest, BATCH)]:
            found = iter(self.parsed([words for words in batch if words]) if any(batch) else ())
            for words in batch:
                yield next(found) if words else self.empty()

    @abstractmethod
    def parsed(self, sentences: list[list[str]]) -> Iterable[T]:
        """Return the parse of each sentence in a batch."""

    @abstractmethod
    def empty(self) -> T:
        """Return the parse of a sentence without words."""

    @classmethod
    def load(cls, open_model: Callable[[str], Any], model: str, name: str) -> Any:
        """Load the adapter of a model, by the name or file that its package uses."""
        try:
            return cls(open_model(model), f"{name} {model}")
        except MemoryError:
            raise
        except Exception as error:
            raise UsageError(f"{cls.refusal.format(model)}: {error}") from error


class DependencyAdapter(Adapter[Dependency]):
    """An adapter for a parser that returns dependencies."""

    gives = Dependency

    def empty(self) -> Dependency:
        """Return the dependencies of a sentence without words."""
        return Dependency([], [])

    def checked(self, words: Sequence[str], heads: Sequence[int], tags: Sequence[str | None]) -> Dependency:
        """Create dependencies from heads that count from 1 (0 for roots).

        If the words differ from the given ones, refuse them.
        """
        if len(heads) != len(words):
            raise TreeglotError(
                f"{self.name} gave {len(heads)} heads for {len(words)} words: it must not split or join them"
            )
        own = [
            head - 1 if 0 <= head <= len(words) and head != place else Dependency.NO_HEAD
            for place, head in enumerate(heads, 1)
        ]
        return Dependency(words, own, [tag or "_" for tag in tags] if any(tags) else None)


class UdpipeParser(DependencyAdapter):
    """A model of UDPipe 1 (Straka and Straková 2017). It tags words, if it has a tagger, and parses them."""

    def __init__(self, module: Any, model: Any, name: str) -> None:
        super().__init__(model, name)
        self.module = module

    def parsed(self, sentences: list[list[str]]) -> Iterator[Dependency]:
        """Parse the sentences of a batch one by one."""
        for words in sentences:
            sentence, error = self.module.Sentence(), self.module.ProcessingError()
            for word in words:
                sentence.addWord(word)
            self.model.tag(sentence, self.module.Model.DEFAULT, error)
            if error.occurred():  # no tagger: the parser goes by words alone
                error = self.module.ProcessingError()
            self.model.parse(sentence, self.module.Model.DEFAULT, error)
            if error.occurred():
                raise TreeglotError(f"{self.name}: {error.message}")
            found = [sentence.words[i] for i in range(1, len(sentence.words))]  # the first is the artificial root
            yield self.checked(words, [w.head for w in found], [w.xpostag or w.upostag for w in found])


class SpacyParser(DependencyAdapter):
    """A pipeline of spaCy with a parser. Its tokenizer and its sentence borders are not used.

    If spaCy splits a sentence into several, the parse has a root for each.
    """

    refusal = "{} is no pipeline of spaCy that is here"

    def parsed(self, sentences: list[list[str]]) -> Iterator[Dependency]:
        """Parse all sentences of a batch at once."""
        from spacy.tokens import Doc

        given = (Doc(self.model.vocab, words=words) for words in sentences)
        for words, doc in zip(sentences, self.model.pipe(given, batch_size=BATCH), strict=True):
            # spaCy's roots are heads of themselves.
            heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
            yield self.checked(words, heads, [token.tag_ or token.pos_ for token in doc])


class StanzaParser(DependencyAdapter):
    """A pipeline of Stanza for a language, on text that is tokenised already."""

    refusal = "Stanza has no models for {} here"

    def parsed(self, sentences: list[list[str]]) -> Iterator[Dependency]:
        """Parse all sentences of a batch at once."""
        for words, sentence in zip(sentences, self.model(sentences).sentences, strict=True):
            found = sentence.words
            yield self.checked(words, [w.head for w in found], [w.xpos or w.upos for w in found])


class SuparParser(DependencyAdapter):
    """A dependency parser of SuPar, which returns no tags."""

    refusal = "SuPar cannot load {}"

    def parsed(self, sentences: list[list[str]]) -> Iterator[Dependency]:
        """Parse all sentences of a batch at once."""
        for words, found in zip(sentences, self.model.predict(sentences, verbose=False, prob=False), strict=True):
            yield self.checked(words, [int(head) for head in found.arcs], [None] * len(words))


class BeneparParser(Adapter[Tree]):
    """A model of benepar, the Berkeley Neural Parser, which returns trees."""

    gives = Tree
    refusal = "benepar cannot load {}"

    def empty(self) -> Tree:
        """Return the tree of a sentence without words."""
        return Tree()

    def parsed(self, sentences: list[list[str]]) -> Iterator[Tree]:
        """Parse all sentences of a batch at once."""
        for words, found in zip(sentences, self.model.parse_sents(sentences), strict=True):
            yield self._tree(found, words)

    def _tree(self, found: Any, words: Sequence[str]) -> Tree:
        """Convert a tree of NLTK, and insert the given words, because benepar escapes brackets."""
        leaves = found.leaves()
        if len(leaves) != len(words):
            raise TreeglotError(
                f"{self.name} gave {len(leaves)} leaves for {len(words)} words: it must not split or join them"
            )
        rest = iter(words)
        root: list[Any] = [found.label()]
        open_nodes = [(root, iter(found))]
        while open_nodes:
            made, children = open_nodes[-1]
            child = next(children, None)
            if child is None:
                open_nodes.pop()
            elif isinstance(child, str):
                made.append(next(rest))
            else:
                made.append([child.label()])
                open_nodes.append((made[-1], iter(child)))
        return Tree.from_nested(root)


def _require(module: str, extra: str) -> Any:
    """Import a package, and explain how to install it if it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"{module} is not installed: pip install treeglot[{extra}]") from error


def _udpipe(model: str) -> UdpipeParser:
    """Open a model of UDPipe from its file."""
    module = _require("ufal.udpipe", "udpipe")
    loaded = module.Model.load(model)
    if not loaded:
        raise UsageError(f"{model} is not a model of UDPipe, or cannot be read")
    return UdpipeParser(module, loaded, f"udpipe {Path(model).name}")


def _spacy(model: str) -> SpacyParser:
    """Open an installed pipeline of spaCy by its name, or one in a folder."""
    spacy = _require("spacy", "spacy")
    exclude = ["ner", "lemmatizer", "senter", "sentencizer"]
    parser: SpacyParser = SpacyParser.load(lambda name: spacy.load(name, exclude=exclude), model, "spacy")
    parts = parser.model.pipe_names
    if "parser" not in parts:
        raise UsageError(f"{model} has no parser; its parts are {', '.join(parts) or 'none'}")
    return parser


def _stanza(model: str) -> StanzaParser:
    """Open Stanza's pipeline for a language, such as `en`. Its models must have been downloaded with Stanza."""
    stanza = _require("stanza", "stanza")
    how = {"processors": "tokenize,pos,lemma,depparse", "tokenize_pretokenized": True}
    opened = lambda name: stanza.Pipeline(name, **how, download_method=None, verbose=False)  # noqa: E731
    parser: StanzaParser = StanzaParser.load(opened, model, "stanza")
    return parser


@contextmanager
def _whole_pickles() -> Iterator[None]:
    """Let PyTorch read pickled objects, as before version 2.6. Models of SuPar and benepar need this."""
    name = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _benepar(model: str) -> BeneparParser:
    """Open a model of benepar from a file or by its name, such as `benepar_en3`. It must have been downloaded."""
    benepar = _require("benepar", "benepar")
    with _whole_pickles():
        parser: BeneparParser = BeneparParser.load(benepar.Parser, model, "benepar")
    return parser


def _supar(model: str) -> SuparParser:
    """Open a model of SuPar from a file or by its name, such as `biaffine-dep-en`."""
    supar = _require("supar", "supar")
    with _whole_pickles():
        parser: SuparParser = SuparParser.load(supar.Parser.load, model, "supar")
    return parser


ADAPTERS: dict[str, Callable[[str], Parser[Dependency | Tree]]] = {
    "benepar": _benepar,
    "spacy": _spacy,
    "stanza": _stanza,
    "supar": _supar,
    "udpipe": _udpipe,
}
"""By name: from a model, its file or name as the package knows it, to a parser."""

RUN_CODE = frozenset({"benepar", "spacy", "stanza", "supar"})
"""Those whose packages may run code that stands in a model's files, as pickles have it."""


def open_parser(name: str, model: str) -> Parser[Dependency | Tree]:
    """Open a parser of another package. If the package or model is missing, `UsageError` explains what to do."""
    if name not in ADAPTERS:
        raise UsageError(unknown("parser", name, ADAPTERS))
    return ADAPTERS[name](model)
