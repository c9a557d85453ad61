"""Creates lattices of sentences, in which unknown words have variants: another case, parts, or joined words.

Words that the model knows stay unchanged. An unknown word keeps its own arc in addition to those of its variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from treeglot.base.options import Options, option
from treeglot.syntax.lattice import Lattice

Known = Callable[[str], bool]


@dataclass(frozen=True)
class VariantOptions(Options):
    """Options that select which variants unknown words get."""

    case: bool = option(True, "small letters, a capital first, or capitals alone")
    split: bool = option(True, "known words that make up an unknown one")
    join: bool = option(True, "a known word that two neighbours make up, if one of them is unknown")
    least: int = option(3, "letters of a part", least=1)
    parts: int = option(3, "parts of a word, at most", least=2, most=6)
    fillers: str = option("", "letters allowed between parts, separated by blanks: s es n en er")
    most: int = option(5, "splits of a word, those with the fewest parts first", least=1)
    cost: float = option(1.0, "cost of a variant relative to the word itself, natural log", least=0)


def word_lattice(words: Sequence[str], known: Known, options: VariantOptions = VariantOptions()) -> Lattice:
    """Return the lattice of a sentence. If all words are known, it has only one path.

    >>> model = {"das", "Haus", "Tür", "ist", "zu"}
    >>> lattice = word_lattice("Das Haustür ist zu".split(), model.__contains__)
    >>> [word for begin, end, word, score in lattice.arcs]
    ['Das', 'das', 'Haustür', 'Haus', 'Tür', 'ist', 'zu']
    """
    arcs: list[tuple[int, int, str, float]] = []
    begins: list[int] = []
    node = 0
    joined: list[tuple[int, str]] = []
    for place, word in enumerate(words):
        begins.append(node)
        chains = [] if known(word) else list(_variants(word, known, options))
        end = node + 1 + sum(len(chain) - 1 for chain in chains)
        arcs.append((node, end, word, 0.0))
        inner = node + 1
        for chain in chains:
            at = node
            for number, part in enumerate(chain, 1):
                to = end if number == len(chain) else inner
                arcs.append((at, to, part, 0.0 if number > 1 else -options.cost))
                at = to
                inner += number < len(chain)
        if options.join and place and not (known(word) and known(words[place - 1])):
            joined += [(place, each) for each in _known_forms(words[place - 1] + word, known, options)]
        node = end
    begins.append(node)
    arcs += [(begins[place - 1], begins[place + 1], word, -options.cost) for place, word in joined]
    return Lattice(arcs)


def _variants(word: str, known: Known, options: VariantOptions) -> Iterator[tuple[str, ...]]:
    if options.case:
        yield from ((form,) for form in _forms(word) if known(form))
    if options.split:
        yield from _splits(word, known, options)


def _forms(word: str) -> list[str]:
    """Return forms of a word in other case."""
    forms = dict.fromkeys((word.lower(), word[:1].upper() + word[1:].lower(), word.upper()))
    return [form for form in forms if form != word]


def _known_forms(word: str, known: Known, options: VariantOptions) -> list[str]:
    """Return the word if the model knows it, and otherwise its forms that the model knows."""
    return [word] if known(word) else [form for form in _forms(word) if options.case and known(form)]


def _splits(word: str, known: Known, options: VariantOptions) -> list[tuple[str, ...]]:
    """Split a word into known parts. Splits with few parts come first; among them, those with a long first part."""
    fillers = ("", *options.fillers.split())
    forms: dict[str, list[str]] = {}

    def first_form(part: str) -> list[str]:
        if part not in forms:
            forms[part] = _known_forms(part, known, options)[:1]
        return forms[part]

    def of(rest: str, parts: int) -> Iterator[tuple[str, ...]]:
        """Yield the ways to split the rest of the word into this number of parts."""
        if parts == 1:
            if len(rest) >= options.least:
                yield from ((form,) for form in first_form(rest))
            return
        for end in range(len(rest) - options.least, options.least - 1, -1):
            for form in first_form(rest[:end]):
                for filler in fillers:
                    if rest.startswith(filler, end):
                        yield from ((form, *others) for others in of(rest[end + len(filler) :], parts - 1))

    for parts in range(2, options.parts + 1):
        found = list(dict.fromkeys(of(word, parts)))
        if found:
            return found[: options.most]
    return []
