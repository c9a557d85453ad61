"""Calls everything in the core with arguments that make no sense: `python hostile.py SEED CALLS`.

Good arguments are made by type from the stub; what calls give back serves as an argument of later ones. The process
must live to its end, and every exception must be one of ours, a `TypeError` or a `ValueError`. AddressSanitizer makes
the walk meaningful: without it, most reads outside of memory go unnoticed. CONTRIBUTING.md has the command.
"""

from __future__ import annotations

import ast
import faulthandler
import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from small_lm import model
from small_table import table

import treeglot
from treeglot import _core

ALLOWED = (TypeError, ValueError, OSError, MemoryError, treeglot.TreeglotError)
SECONDS = 20.0  # of CPU that a call may take; one that is not refused takes milliseconds
BAD: list[Any] = [
    None, -1, 255, 2**16, 2**31, 2**32, 2**32 - 1, 2**63, 2**64 - 1, 2**64, 1e308, float("nan"), float("inf"), "",
    "\udc80", "a\0b", b"", b"\xff\x00", [], [None], [[]], {}, (), object(), True, ["\udcff"], [-1], [2**64], [7, 5, 9],
    [2**32 - 1] * 3, [float("nan")], np.zeros(0), np.array([np.nan]), np.full(3, -1, dtype=np.int64),
    np.full(3, 2**32 - 1, dtype=np.uint32), np.full(3, 2**63, dtype=np.uint64), np.array([3, 1, 2], dtype=np.uint32),
    np.zeros((2, 2)),
]  # fmt: skip
SKIPPED = {"new_aside", "remove_leftovers", "write_sections", "Ending"}  # they touch files and signals
GROWS = {"split"}  # each call makes a grammar eight times as large
DTYPES = {"uint8": np.uint8, "int8": np.int8, "uint32": np.uint32, "int32": np.int32, "int64": np.int64,
          "uint64": np.uint64, "float32": np.float32, "float64": np.float64}  # fmt: skip
HEADS = "%default first\nS = first VP\n"
TEXTS = [
    "a", "a b", "das haus", "X", "NP", "u v u", "(S (NP a) (VP b))", "0-0 1-1", "tropical", "log", HEADS,
    "none", "all", "unknown", "hope", "closest", "exp", "posterior", "/nowhere/none",
]  # fmt: skip

BYTES = [
    b"(S (NP a) (VP b))\n", b"0-0 1-1\n", b"a b\n", b"1\ta\t_\tN\tN\t_\t0\troot\t_\t_\n\n",
    b"sentence 1 :\na b\nA[0,0] => a ||| -1\nB[1,1] => b ||| 0\nS[0,1] => A[0,0] B[1,1] ||| -1\n\n",
    b"[X] ||| das [X,1] ||| the [X,1] ||| p=0.5 ||| 0-0\n", bytes(8), bytes(64), b"\1\0\0\0\2\0\0\0",
]  # fmt: skip


class Options:
    """Has every option that is asked for."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.walk.good("int | int | float | bool | str | Sequence[int] | Sequence[float]")


def good_values() -> Iterator[Any]:
    """Values that random calls would hardly ever make."""
    tree = _core.Tree.parse("(S (NP (DT das) (NN haus)) (VP (VB ist) (JJ klein)))")
    words = tree.words
    dependency = _core.Dependency(words, [1, 2, -1, 2], ["DT", "NN", "VB", "JJ"], ["det", "subj", "root", "obj"])
    forest = _core.ParseForest.from_kbest([(-1.0, tree), (-2.0, _core.Tree.parse("(S (A das haus) (B ist klein))"))])
    links = _core.Alignment([(0, 0), (1, 1), (2, 2), (3, 3)])
    yield from (tree, tree.root, dependency, forest, forest.graph, links, _core.HeadTable.read(HEADS, "heads"))
    builder, batch, bank = _core.BitextBuilder(), _core.TreeBatch(), _core.DependencyBank()
    forests = _core.ForestBank(10.0)
    builder.append(words, ["the", "house", "is", "small"], links)
    batch.append(tree, words, words)
    bank.append(dependency)
    forests.append([forest], 1)
    bitext = builder.finish()
    lexical = _core.LexicalTable(bitext)
    extractors = [
        _core.HieroExtractor(bitext, {"max_phrase": 4}),
        _core.TreePairExtractor(bitext, batch, batch, {}),
        _core.HeadDependentsExtractor(bitext, [dependency], {"max_phrase": 4, "max_variants": 8}),
        _core.GhkmExtractor(bitext, forests, None, {}),
    ]
    for extractor in extractors:
        tally = _core.Tally()
        extractor.extract(0, tally, 1 << 20, 1)
        yield extractor
        yield tally
    renderer = _core.Renderer(bitext.source_words, bitext.target_words, extractors[0].labels)
    yield from (bitext, lexical, batch, bank, forests, renderer)
    rules, lm = table(), model()
    for make in (
        lambda features: _core.ChartMatcher(features, {}),
        lambda features: _core.ForestMatcher(features, None, {}),
        lambda features: _core.HeadDependentsMatcher(features, None, {}, True),
    ):
        features = _core.FeatureSet(rules)
        features.add_ngram(lm)
        decoder = _core.Decoder(features, make(features), [("p", 1.0), ("lm", 0.5)], {})
        yield from (features, decoder, decoder.translate("das haus ist das"), decoder.translate(forest))
    yield from (rules, lm, lm.begin_state(), _core.TerMetric(), _core.BleuMetric({}), _core.ChrfMetric({}))
    yield _core.BleuMetric({}).prepare([["the house", "it is"]])
    numbers = np.array([0, 1, 3], dtype=np.uint32)
    yield _core.HypothesisPool(
        numbers, np.array([0, 1, 2, 3], dtype=np.uint64), np.array([0, 1, 0], dtype=np.uint32),
        np.ones(3, dtype=np.float32), np.ones(3 * _core.BleuMetric({}).width), 2,
    )  # fmt: skip
    treebank = _core.Treebank()
    treebank.add(tree)
    trainer = _core.Trainer(treebank, _core.SignatureKind.english)
    trainer.finish_level()
    yield from (treebank, trainer, trainer.grammar, _core.SplitParser(trainer.grammar, 0))
    counts = _core.DependencyTrainer(_core.DependencyUnit.words, [0.5, 1.0, 1.5], _core.DependencyConditioning.sibling)
    counts.add([dependency])
    estimate = counts.finish()
    parts = (estimate.left.ngrams, estimate.right.ngrams, estimate.root.ngrams)
    yield from (
        estimate,
        *parts,
        _core.compile_dependency(_core.DependencyUnit.words, _core.DependencyConditioning.sibling, *parts),
    )


class Walk:
    """All functions of the stub, and the values that there are to call them with."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log = Path(os.environ["HOSTILE_LOG"]) if "HOSTILE_LOG" in os.environ else None  # the call that crashes
        self.values: dict[str, list[Any]] = {}
        self.made: dict[str, list[Any]] = {}
        self.calls: list[tuple[str, Any, list[str]]] = []
        stub = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text())
        for node in stub.body:
            if isinstance(node, ast.FunctionDef) and node.name not in SKIPPED:
                self.calls.append((node.name, getattr(_core, node.name), annotations(node)))
            if isinstance(node, ast.ClassDef) and node.name not in SKIPPED:
                self.add_class(node, getattr(_core, node.name))
        for value in good_values():
            self.keep(value, self.values)

    def add_class(self, node: ast.ClassDef, cls: Any) -> None:
        for method in node.body:
            if not isinstance(method, ast.FunctionDef) or method.name in {"write", *GROWS}:
                continue
            decorators = {ast.unparse(each) for each in method.decorator_list}
            given = annotations(method)
            if method.name == "__init__":
                self.calls.append((f"{node.name}()", cls, given))
            elif method.name == "__setstate__":
                self.calls.append((f"{node.name}.__setstate__", lambda *state, cls=cls: pickled(cls, *state), given))
            elif "property" in decorators:
                name = method.name
                read = getattr(cls, name).__get__
                self.calls.append((f"{node.name}.{name}", read, [node.name]))
            elif not any("setter" in each for each in decorators):
                own = [] if "staticmethod" in decorators else [node.name]
                self.calls.append((f"{node.name}.{method.name}", getattr(cls, method.name), own + given))
        if hasattr(cls, "__members__"):
            self.values[node.name] = list(cls.__members__.values())

    def keep(self, value: Any, among: dict[str, list[Any]]) -> None:
        """For later calls, as a value of its type and of those it derives from."""
        if type(value).__module__ == _core.__name__ and not hasattr(type(value), "__members__"):
            for cls in type(value).__mro__[:-1]:
                kept = among.setdefault(cls.__name__, [])
                kept[:] = [*kept[-15:], value]

    def good(self, annotation: str) -> Any:
        """A value of this type, if there is one; now and then another."""
        draw = self.random
        if draw.random() < 0.04:
            return draw.choice(BAD)
        kind = draw.choice([part.strip() for part in split(annotation, "|")])
        if kind.startswith(("Annotated[", "NDArray[", "numpy.typing.NDArray[")):
            dtype = next(each for name, each in DTYPES.items() if f"numpy.{name}]" in kind)
            if "shape=(None, None)" in kind:
                return np.array([[draw.randrange(7) for _ in range(3)] for _ in range(draw.randrange(4))], dtype=dtype)
            numbers = [draw.randrange(draw.choice([3, 127])) for _ in range(draw.randrange(draw.choice([4, 20])))]
            return np.array(sorted(numbers) if draw.random() < 0.5 else numbers, dtype=dtype)
        if "[" in kind and kind.endswith("]"):
            head, inner = kind[:-1].split("[", 1)
            parts = split(inner, ",")
            if head in {"Sequence", "list", "Iterable"}:
                return [self.good(inner) for _ in range(draw.randrange(5))]
            if head == "tuple":
                return tuple(self.good(part) for part in parts if part != "...")
            if head in {"Mapping", "dict"}:
                return {key: self.good(parts[1]) for key in [self.good(parts[0])] if type(key) in (int, str)}
            return lambda *_: None
        plain: dict[str, list[Any]] = {
            "int": [0, 1, 2, 3, 4, 7, 100], "str": TEXTS, "bool": [True, False], "float": [0.0, 0.5, 1.0, 10.0],
            "bytes": BYTES, "None": [None],
        }  # fmt: skip
        if kind == "object":
            return draw.choice([{}, Options(self), Options(self), *TEXTS[:3]])
        return draw.choice(plain.get(kind) or [*self.values.get(kind, []), *self.made.get(kind, [])] or BAD)

    def step(self) -> None:
        name, function, wanted = self.random.choice(self.calls)
        arguments = [self.good(each) for each in wanted]
        for place in range(len(arguments)):
            if self.random.random() < 0.1:
                arguments[place] = self.random.choice(BAD)
        call = f"{name}{arguments!r}"
        if self.log is not None:
            self.log.write_text(call, encoding="utf-8", errors="backslashreplace")
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        try:
            found = function(*arguments)
        except BaseException as error:
            if not ours(name, error):
                raise SystemExit(f"{call}: {type(error).__name__}: {error}") from error
            return
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        for value in found if isinstance(found, list | tuple) else [found]:
            self.keep(value, self.made)


def ours(name: str, error: BaseException) -> bool:
    """Whether an error is one that the core may raise."""
    if isinstance(error, IndexError):  # of what counts nodes, words and rules, with a message of our own
        return "_M_" not in str(error) and name.rpartition(".")[2] in {
            "__getitem__", "children", "is_word", "label", "mark", "notes", "origin", "pair", "pairs_of", "parent",
            "root", "rule", "span", "sparse_features", "word", "words_on",
        }  # fmt: skip
    if isinstance(error, RuntimeError):  # base/exclusive.h
        return "is in use by another call" in str(error)
    if isinstance(error, UnicodeError):
        return False
    return isinstance(error, ALLOWED)


def pickled(cls: Any, *state: Any) -> Any:
    """An object made as pickle makes it."""
    new = cls.__new__(cls)
    new.__setstate__(*state)
    return new


def annotations(node: ast.FunctionDef) -> list[str]:
    """Of the parameters that have them: all but self."""
    given = [*node.args.posonlyargs, *node.args.args]
    return [ast.unparse(each.annotation) for each in given if each.annotation is not None]


def split(text: str, at: str) -> list[str]:
    """The parts of a type between separators that are outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def main() -> None:
    """Walks."""
    faulthandler.enable()
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # the sanitizer has limits of its own
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        walk = Walk(int(sys.argv[1]))
        for _ in range(int(sys.argv[2])):
            walk.step()
        print(f"{len(walk.calls)} functions, {sum(map(len, walk.made.values()))} values")
        os.chdir("/")


if __name__ == "__main__":
    main()
