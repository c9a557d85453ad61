"""Extraction of string-to-dependency rules (Shen et al. 2008): Hiero's, with structures on their target sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treeglot._core import Bitext, Dependency, DependencyBank, TargetStructures
from treeglot.base.errors import FormatError

_ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def target_structures(pairs: Bitext, trees: Iterable[Dependency], *, strict: bool = True) -> TargetStructures:
    """Dependency structures for the phrases of Hiero's rules: give them to `extract` as its labels.

    A phrase whose target side is ill-formed is neither a rule nor stands in a variable; what is left carries its
    structure, and the tags of its words as notes. A tree without words refuses all phrases of its pair.
    `strict` asks for the definitions of Shen et al. (2008), else those of the constituency-to-dependency model hold.

    >>> import tempfile
    >>> from treeglot.rules import bitext, extract
    >>> from treeglot.syntax import Alignment
    >>> pairs = bitext([("das alte Haus".split(), "the old house".split(), Alignment.parse("0-0 1-1 2-2"))])
    >>> structures = target_structures(pairs, [Dependency("the old house".split(), [2, 2, -1])])
    >>> extraction = extract(pairs, tempfile.mkdtemp(), labels=structures)
    """
    bank = DependencyBank()
    for tree in trees:
        bank.append(tree)
    return TargetStructures(pairs, bank, strict)


def over_text(
    trees: Iterable[Dependency], text: Iterable[Sequence[str]], file: str = "target trees"
) -> Iterable[Dependency]:
    """The trees over the words of a text, which differ at most in case and in how brackets are escaped.

    Parsers see true case and escape brackets; rules and language models have the words of the text. A tree over other
    words is a `FormatError` that names the file and the tree; one without words, a failed parse, stays as it is.

    >>> [tree] = over_text([Dependency(["He", "-LRB-"], [-1, 0])], [["he", "("]])
    >>> tree.words, tree.heads.tolist()
    (['he', '('], [-1, 0])
    """
    for number, (tree, words) in enumerate(zip(trees, text, strict=True), 1):
        if len(tree) == 0 or tree.words == words:
            yield tree
            continue
        if len(tree) != len(words):
            raise FormatError(
                file, 0, f"tree {number} has {len(tree)} words; expected {len(words)}, as the sentence has"
            )
        for place, (found, word) in enumerate(zip(tree.words, words, strict=True), 1):
            if found != word and _ESCAPED.get(found, found).lower() != _ESCAPED.get(word, word).lower():
                raise FormatError(
                    file, 0, f"tree {number}: word {place} of the tree is {found!r}; expected {word!r}, as the text has"
                )
        yield Dependency(words, tree.heads.tolist(), tree.tags, tree.relations)
