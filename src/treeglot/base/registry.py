"""A registry for each kind of object that is selected by name: formats, extractors, features, models.

>>> from typing import Annotated
>>> extractor = Registry("extractor")
>>> @extractor("ghkm")
... def ghkm(max_nodes: Annotated[int, "largest rule"] = 15):
...     "Minimal and composed rules."
...     return f"at most {max_nodes} nodes"
>>> extractor.make("ghkm", {"max_nodes": 4})
'at most 4 nodes'
>>> extractor["gkhm"]
Traceback (most recent call last):
treeglot.base.errors.UsageError: unknown extractor 'gkhm'; did you mean 'ghkm'? known: ghkm
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from treeglot.base.errors import UsageError
from treeglot.base.options import from_table, unknown

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Registry(Generic[T]):
    """Factories of `T` by name. A factory's parameters are its options."""

    def __init__(self, kind: str) -> None:
        """Create a registry. In messages, `kind` is the word for the registered objects."""
        self.kind = kind
        self._factories: dict[str, Callable[..., T]] = {}

    def __call__(self, name: str) -> Callable[[F], F]:
        """Return a decorator that registers a factory under `name`. Each name can be used once."""

        def register(factory: F) -> F:
            if name in self._factories:
                raise ValueError(f"there is a {self.kind} {name!r} already")
            self._factories[name] = factory
            return factory

        return register

    def __getitem__(self, name: str) -> Callable[..., T]:
        try:
            return self._factories[name]
        except KeyError:
            raise UsageError(unknown(self.kind, name, self._factories)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._factories

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __len__(self) -> int:
        return len(self._factories)

    def make(self, name: str, options: Mapping[str, Any] | None = None) -> T:
        """Create the object called `name` with `options`, after checking them against the parameters of its factory."""
        return from_table(self[name], options or {}, table_name=name)
