"""Reads the output of the C&C parser: predicate-argument dependencies or grammatical relations, and the tokens."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator

from treeglot._core import Dependency
from treeglot.base.errors import FormatError
from treeglot.syntax.arcs import one_head_each, widest_root
from treeglot.syntax.ccg import argument_depends
from treeglot.syntax.formats.format import Format
from treeglot.syntax.formats.lines import BadRecordError, LineRecords

# Grammatical relations of Briscoe and Carroll: head, then dependent; in those of _TYPED after a type. That
# may be a word (`to_2`), which hangs from the dependent.
_PLAIN = frozenset(
    ["det", "predet", "dobj", "obj2", "iobj", "pcomp", "aux", "conj", "ncsubj", "xsubj", "csubj", "poss"]
)
_TYPED = frozenset(["ncmod", "xmod", "cmod", "pmod", "xcomp", "ccomp", "ta", "arg_mod"])
_NONE = frozenset(["passive"])  # about one word alone
_WORD = re.compile(r"(.+)_([0-9]{1,9})")
_SLOT = re.compile(r"[0-9]{1,9}")


class UnknownRelationWarning(UserWarning):
    """Warns of unknown grammatical relations, whose arcs are skipped."""


class CandC(LineRecords[Dependency]):
    """Reads sentences. Each is a block of lines with an empty line after it; the line `<c> …` contains the tokens."""

    def __init__(self, file: str, skip_bad: bool, roots: str = "") -> None:
        super().__init__(file, skip_bad)
        self.unknown: Counter[str] = Counter()
        self._roots = _read_roots(roots)
        self._sentences = 0  # that roots were asked for
        self._lines: list[tuple[int, str]] = []

    def take(self, number: int, line: str) -> Iterator[Dependency | BadRecordError]:
        """Yield the sentence that this line ends, if the line is empty."""
        if line.startswith("#") and not _WORD.fullmatch(line.split(maxsplit=1)[0]):  # the word # may begin a line
            return
        if line.strip():
            self._lines.append((number, line.strip()))
            return
        yield from self.end(number)

    def end(self, number: int) -> Iterator[Dependency | BadRecordError]:
        """Yield the last sentence, if no empty line follows it."""
        lines, self._lines = self._lines, []
        if not lines:
            return
        try:
            yield self._sentence(lines, self._other(lines[0][0]))
        except BadRecordError as bad:
            yield bad

    def _other(self, line: int) -> Dependency | None:
        """Return the tree of this sentence in the file of roots."""
        if self._roots is None:
            return None
        self._sentences += 1
        if (found := next(self._roots, None)) is None:
            raise BadRecordError(line, f"there is no tree for sentence {self._sentences} among the roots")
        return found

    def report(self) -> None:
        """Warn of unknown relations. Refuse a file of roots with too many sentences."""
        if self._roots is not None and next(self._roots, None) is not None:
            raise FormatError(self.file, 0, f"has {self._sentences} sentences; the roots are those of more")
        if self.unknown:
            names = ", ".join(f"{name} ({count})" for name, count in sorted(self.unknown.items()))
            warnings.warn(
                f"{self.file}: {self.unknown.total()} relations of unknown types, their arcs are skipped: {names}",
                UnknownRelationWarning,
                stacklevel=2,
            )

    def _sentence(self, lines: list[tuple[int, str]], other: Dependency | None) -> Dependency:
        first = lines[0][0]
        tokens = [line for _, line in lines if line.startswith("<c>")]
        if len(tokens) != 1:
            raise BadRecordError(first, f"the block has {len(tokens)} lines that begin with <c>; expected one")
        fields = [token.split("|") for token in tokens[0].split()[1:]]
        if any(len(field) not in (3, 6) or not field[0] for field in fields):
            raise BadRecordError(first, "a token is not WORD|LEMMA|TAG|CHUNK|NAME|CATEGORY or WORD|TAG|CATEGORY")
        words = [field[0] for field in fields]
        arcs = []
        for number, line in lines:
            if not line.startswith("<c>"):
                arcs += self._arcs(number, line, words)
        tags = [field[1 if len(field) == 3 else 2] for field in fields]
        # A failed parse: in others, no more than one word besides punctuation is in no dependency.
        if len(lines) == 1 and other is None and sum(any(c.isalnum() for c in word) for word in words) > 1:
            return Dependency(words, [Dependency.NO_HEAD] * len(words), tags)
        root, told = widest_root(len(words), arcs)
        if not told and other is not None and words:
            if len(other) != len(words):
                raise BadRecordError(
                    first, f"the sentence has {len(words)} words; its tree among the roots has {len(other)}"
                )
            root = next(iter(other.roots()), root)
        heads = one_head_each(len(words), arcs, root) if words else []
        return Dependency(words, heads, tags)

    def _arcs(self, number: int, line: str, words: list[str]) -> list[tuple[int, int]]:
        # A line without outer brackets may begin with the word (_3.
        parts = (line[1:-1] if line.startswith("(") and line.endswith(")") else line).split()
        if len(parts) >= 4 and _WORD.fullmatch(parts[0]) and _SLOT.fullmatch(parts[2]):
            predicate, argument = (self._place(number, part, words, 1) for part in (parts[0], parts[3]))
            try:
                depends = argument_depends(parts[1], int(parts[2]), words[predicate])
            except ValueError as error:
                raise BadRecordError(number, str(error)) from None
            return [(argument, predicate)] if depends else [(predicate, argument)]
        if not (parts := line.removeprefix("(").removesuffix(")").split()):
            raise BadRecordError(number, f"{line!r} is not a dependency or relation")
        relation, *rest = parts
        if relation in _NONE:
            return []
        if relation not in _PLAIN | _TYPED:
            self.unknown[relation] += 1
            return []
        # A conjunction that joins its sentence to the one before has an empty type.
        typed = relation in _TYPED or (relation == "conj" and len(rest) > 2 and rest[0] == "_")
        if len(rest) < 2 + typed:
            raise BadRecordError(number, f"{line!r} has too few words; expected a head and a dependent")
        head, dependent = (self._place(number, part, words, 0) for part in rest[typed : 2 + typed])
        arcs = [(dependent, head)]
        if typed and _WORD.fullmatch(rest[0]):
            arcs.append((self._place(number, rest[0], words, 0), dependent))
        return arcs

    def _place(self, number: int, text: str, words: list[str], first: int) -> int:
        match = _WORD.fullmatch(text)
        if match is None:
            raise BadRecordError(number, f"{text[:40]!r} is not a word with its number, such as dog_2")
        place = int(match[2]) - first
        if not 0 <= place < len(words) or words[place] != match[1]:
            raise BadRecordError(number, f"{text[:40]!r} is not in the sentence: its words count from {first}")
        return place


def _read_roots(path: str) -> Iterator[Dependency] | None:
    if not path:
        return None
    from treeglot.syntax.formats import read_dependencies

    return read_dependencies(path)


CANDC = Format("candc", "C&C's dependencies or grammatical relations", Dependency, (".candc",), CandC)
