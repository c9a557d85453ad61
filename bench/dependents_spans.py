"""What translates the words of parsed sentences, and on which parts of their dependency trees.

python bench/dependents_spans.py test.zh.tree.xz --heads chinese-particles --models models/dep2str models/hiero

For models of dependency trees: the share of the source words that rules of relations, phrases on subtrees, on
structures and on single words translate. For models of strings: the parts of the tree that the spans of their rules
are, glue apart.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from treeglot.decode import Translation
from treeglot.models import load
from treeglot.syntax import Dependency, Tree, heads, read
from treeglot.syntax.constituents import to_dependencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, help="parses of the sentences")
    parser.add_argument("--heads", default="chinese-particles", help="head table, by name or file")
    parser.add_argument("--models", type=Path, nargs="+", required=True)
    arguments = parser.parse_args()
    parses = [value for value in read(arguments.trees) if isinstance(value, Tree)]
    trees = to_dependencies(parses, heads.load(arguments.heads))
    print_shares("spans of two words or more", spans_of(trees))
    for folder in arguments.models:
        model = load(folder)
        if model.kind.startswith("dep2str"):
            print_shares(f"{folder}, words by what translates them", words_by_rule(model.translate_batch(trees)))
        else:
            found = model.translate_batch([" ".join(tree.words) for tree in trees])
            print_shares(f"{folder}, spans of rules of two words or more", used_spans(trees, found))


def print_shares(what: str, counts: Counter[str]) -> None:
    """A line of counts and per cent."""
    shares = (f"{name} {count:,} ({count / counts.total():.1%})" for name, count in counts.most_common())
    print(f"{what}: {', '.join(shares)}")


def spans_of(trees: Iterable[Dependency]) -> Counter[str]:
    """The parts of the trees that all spans are."""
    return Counter(
        part(tree, begin, end)
        for tree in trees
        for begin in range(len(tree))
        for end in range(begin + 2, len(tree) + 1)
    )


def used_spans(trees: Iterable[Dependency], found: Iterable[Translation]) -> Counter[str]:
    """The parts of the trees that the spans of the rules of derivations are."""
    return Counter(
        part(tree, *step.span)
        for tree, translation in zip(trees, found, strict=True)
        for step in translation.derivation.steps
        if step.label == "X" and step.span[1] - step.span[0] > 1
    )


def words_by_rule(found: Iterable[Translation]) -> Counter[str]:
    """Source words by what translates them. The words of a relation that is all words count as a phrase's."""
    words: Counter[str] = Counter()
    for step in (step for translation in found for step in translation.derivation.steps):
        symbols = step.source.split()
        own = sum(not (symbol.startswith("[") and symbol.endswith("]")) for symbol in symbols)
        if own < len(symbols):
            words["rule"] += own
        elif own > 1:
            words["phrase on a structure" if step.local else "phrase on a subtree"] += own
        else:
            words["unknown" if step.local else "phrase of one word"] += own
    return +words


def part(tree: Dependency, begin: int, end: int) -> str:
    """A whole subtree, a fixed or floating structure (Shen et al. 2008), or neither."""
    outside = {word for word in range(len(tree)) if not begin <= word < end}
    hanging = {int(tree.heads[word]) for word in outside} - outside - {-1}  # words inside with dependents outside
    tops = [word for word in range(begin, end) if int(tree.heads[word]) in outside | {-1}]
    if len(tops) == 1 and not hanging:
        return "subtree"
    if len(tops) == 1 and hanging == set(tops):
        return "fixed"
    if not hanging and len({int(tree.heads[word]) for word in tops}) == 1:
        return "floating"
    return "neither"


if __name__ == "__main__":
    main()
