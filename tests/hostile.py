"""Calls everything in the core with arguments that make no sense: `python hostile.py SEED CALLS`.

Good arguments are made by type from the stub; what calls give back serves as an argument of later ones. The process
must live to its end, and every exception must be one of ours, a `TypeError` or a `ValueError`.
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
from pathlib import Path
from typing import Any

import numpy as np

import treeglot
from treeglot import _core

ALLOWED = (
    TypeError,
    ValueError,
    OverflowError,
    IndexError,
    KeyError,
    OSError,
    MemoryError,
    treeglot.TreeglotError,
    StopIteration,
)
BAD: list[Any] = [
    None, -1, 2**31, 2**32, 2**63, 2**64, 1e308, float("nan"), float("inf"), "", "\udc80", "a\0b", b"", b"\xff\x00",
    [], [None], [[]], {}, (), object(), True, ["\udcff"], [-1], [2**64], [float("nan")],
    np.zeros(0), np.array([np.nan]), np.full(3, -1, dtype=np.int64), np.full(3, 2**32 - 1, dtype=np.uint32),
    np.zeros((2, 2)),
]  # fmt: skip
SKIPPED = {"new_aside", "remove_leftovers", "write_sections"}  # they write where they are told to
DTYPES = {"uint8": np.uint8, "int8": np.int8, "uint32": np.uint32, "int32": np.int32, "uint64": np.uint64,
          "float32": np.float32, "float64": np.float64}  # fmt: skip


class Walk:
    """All functions of the stub, and the values that there are to call them with."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.last = ""
        self.log = Path(os.environ["HOSTILE_LOG"]) if "HOSTILE_LOG" in os.environ else None  # the call that crashes
        self.values: dict[str, list[Any]] = {}
        self.calls: list[tuple[str, Any, list[str]]] = []
        stub = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text())
        for node in stub.body:
            if isinstance(node, ast.FunctionDef) and node.name not in SKIPPED:
                self.calls.append((node.name, getattr(_core, node.name), annotations(node)))
            if isinstance(node, ast.ClassDef):
                self.add_class(node, getattr(_core, node.name))

    def add_class(self, node: ast.ClassDef, cls: Any) -> None:
        for method in node.body:
            if not isinstance(method, ast.FunctionDef) or method.name == "write":
                continue
            decorators = {ast.unparse(each) for each in method.decorator_list}
            given = annotations(method)
            if method.name == "__init__":
                self.calls.append((f"{node.name}()", cls, given))
            elif "property" in decorators:
                name = method.name
                self.calls.append(
                    (
                        f"{node.name}.{name}",
                        lambda value, name=name, cls=cls: getattr(cls, name).__get__(value),
                        [node.name],
                    )
                )
            elif not any("setter" in each for each in decorators):
                own = [] if "staticmethod" in decorators else [node.name]
                self.calls.append((f"{node.name}.{method.name}", getattr(cls, method.name), own + given))
        if hasattr(cls, "__members__"):
            self.values[node.name] = list(cls.__members__.values())

    def good(self, annotation: str) -> Any:
        """A value of this type, if there is one."""
        draw = self.random
        options = [part.strip() for part in split(annotation, "|")]
        kind = draw.choice(options)
        if kind.startswith(("Annotated[", "NDArray[", "numpy.typing.NDArray[")):
            dtype = next(each for name, each in DTYPES.items() if f"numpy.{name}]" in kind)
            return np.array([draw.randrange(3) for _ in range(draw.randrange(4))], dtype=dtype)
        if "[" in kind and kind.endswith("]"):
            head, inner = kind[:-1].split("[", 1)
            parts = split(inner, ",")
            if head in {"Sequence", "list", "Iterable"}:
                return [self.good(inner) for _ in range(draw.randrange(4))]
            if head == "tuple":
                return tuple(self.good(part) for part in parts if part != "...")
            if head in {"Mapping", "dict"}:
                return {self.good(parts[0]): self.good(parts[1])}
            return lambda *_: None
        plain: dict[str, list[Any]] = {
            "int": [0, 1, 2, 3], "str": ["a", "a b", "X", str(self.folder / "none")], "bool": [True, False],
            "float": [0.0, 0.5, 1.0], "bytes": [b"(S (NP a) (VP b))\n", b"0-0 1-1\n", b"a b\n"], "None": [None],
            "object": [1, "a"],
        }  # fmt: skip
        choices = plain.get(kind) or self.values.get(kind) or BAD
        return draw.choice(choices)

    def step(self) -> None:
        name, function, wanted = self.random.choice(self.calls)
        method = "." in name and wanted[:1] == [name.split(".")[0]]
        if method and not self.values.get(wanted[0]):
            return
        arguments = [self.good(each) for each in wanted]
        for place in range(1 if method else 0, len(arguments)):
            if self.random.random() < 0.2:
                arguments[place] = self.random.choice(BAD)
        self.last = f"{name}{arguments!r}"
        if self.log is not None:
            self.log.write_text(self.last, encoding="utf-8", errors="backslashreplace")
        signal.setitimer(signal.ITIMER_PROF, 10)  # of CPU: the machine may be busy
        try:
            found = function(*arguments)
        except ALLOWED:
            return
        except BaseException as error:
            if isinstance(error, RuntimeError) and "is in use by another call" in str(error):  # base/exclusive.h
                return
            raise SystemExit(f"{name}{arguments!r}: {type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        for value in found if isinstance(found, list | tuple) else [found]:
            kept = self.values.setdefault(type(value).__name__, [])
            if type(value).__module__ == _core.__name__ and not hasattr(type(value), "__members__"):
                kept[:] = [*kept[-15:], value]


def annotations(node: ast.FunctionDef) -> list[str]:
    """Of the parameters that have them: all but self."""
    return [ast.unparse(each.annotation) for each in node.args.args if each.annotation is not None]


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
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(int(sys.argv[1]), Path(folder))

        def late(*_: Any) -> None:
            raise SystemExit(f"takes more than 10 s of CPU: {walk.last}")

        signal.signal(signal.SIGPROF, late)
        for _ in range(int(sys.argv[2])):
            walk.step()
        print(f"{len(walk.calls)} functions, {sum(map(len, walk.values.values()))} values")


if __name__ == "__main__":
    main()
