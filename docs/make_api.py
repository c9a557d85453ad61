"""Makes docs/api.md, the list of all public names, from the code: python docs/make_api.py"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from treeglot.base.registry import Registry

FOLDERS = (
    "graph",
    "syntax",
    "text",
    "parse",
    "lm",
    "evaluate",
    "align",
    "corpus",
    "rules",
    "decode",
    "tune",
    "neural",
    "documents",
    "models",
    "foreign",
    "analyse",
    "sample",
)
MODULES = ("treeglot", *(f"treeglot.{name}" for name in (*FOLDERS, "experiment")))
SIGNATURE = re.compile(r"\w+\(.*\) -> ")


def api() -> str:
    """The text of docs/api.md."""
    lines = [
        "# Public names",
        "",
        "Made from the code by `python docs/make_api.py`; a test says when it is out of date. `help` says more,",
        "with examples: `help(treeglot.decode.Translator)`. What is not here may change at any time.",
    ]
    listed: dict[str, Any] = {}  # each name once, under the first module that has it
    for module in map(import_module, MODULES):
        lines += ["", f"## `{module.__name__}`", "", summary(module), ""]
        names = sorted(module.__all__, key=lambda name: (name.lower(), name))
        for name in names:
            value = getattr(module, name)
            if not name.startswith("__") and listed.get(name) is not value:
                lines += entry(name, value)
                listed[name] = value
    return "\n".join(lines) + "\n"


def entry(name: str, value: Any) -> Iterator[str]:
    """A name with its parameters and what it is; of a class also what it has."""
    if isinstance(value, types.ModuleType):
        yield f"- `{name}`, a module: {summary(value)}"
    elif isinstance(value, Mapping | Registry):
        yield f"- `{name}`: {', '.join(f'`{key}`' for key in value)}"
    elif isinstance(value, tuple):
        yield f"- `{name}`: {', '.join(f'`{item}`' for item in value)}"
    elif inspect.isclass(value):
        yield f"- `{name}`: {summary(value)}"
        members = ", ".join(f"`{member}`" for member in members_of(value))
        if members:
            yield f"  <br>{members}"
    elif callable(value) and not hasattr(value, "__args__"):
        yield f"- `{name}({parameters(value)})`: {summary(value)}"
    else:
        yield f"- `{name}`: {'a number' if isinstance(value, int | float) else 'a type'}"


def summary(value: Any) -> str:
    """The first line of its docstring; a function of the core has its signature before that."""
    lines = (inspect.getdoc(value) or "").split("\n")
    return next((line for line in lines if line and not SIGNATURE.match(line)), "")


def parameters(function: Any) -> str:
    """The names of its parameters."""
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:  # of the core: nanobind writes them into the docstring
        return _documented(inspect.getdoc(function) or "")
    out: list[str] = []
    for parameter in found:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in out:
            out.append("*")
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        out.append(star + parameter.name)
    return ", ".join(out)


def _documented(doc: str) -> str:
    inner = doc.partition("(")[2].rpartition(") ->")[0]
    names, depth, item = [], 0, ""
    for character in inner.split("\n")[0] + ",":
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            names.append(item.partition(":")[0].partition("=")[0].strip())
            item = ""
        else:
            item += character
    return ", ".join(filter(None, names))


def members_of(kind: type) -> list[str]:
    """What is public of a class's own, methods with brackets."""
    parts = [part for part in reversed(kind.__mro__) if part.__module__.startswith("treeglot")]
    fields = list(getattr(kind, "__dataclass_fields__", {}))
    names = dict.fromkeys([*fields, *(name for part in parts for name in vars(part))])
    return [_member(kind, name, name in fields) for name in names if not name.startswith("_")]


def _member(kind: type, name: str, field: bool) -> str:
    value = getattr(kind, name, None)
    return f"{name}()" if callable(value) and not field and not isinstance(value, type) else name


if __name__ == "__main__":
    Path(__file__).with_name("api.md").write_text(api(), encoding="utf-8")
