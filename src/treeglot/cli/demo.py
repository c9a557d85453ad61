"""`treeglot demo`: what works, on the sample treebank."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeglot.cli.output import Progress
from treeglot.cli.screen import Colour, Width, screen

if TYPE_CHECKING:
    from treeglot.sample import SamplePair
    from treeglot.syntax import ParseForest
    from treeglot.syntax.draw import Screen

PAIRS, SEED = 600, 1
AND_OR_WITH = "与"

NEXT = """\

treeglot sample --out sample                # 3,000 such pairs as files
treeglot show sample/train.zh.forest.jsonl  # its first forest
treeglot show sample/train.en.tree --index 1-9 --html trees.html
treeglot convert sample/train.en.tree en.conllu --heads english
treeglot lm train --order 3 sample/train.en --out en.arpa
treeglot --help                             # all commands, in the order of use
"""


def demo(width: Width = None, colour: Colour = None) -> None:
    """See what Treeglot does, on a small treebank of its own."""
    import treeglot
    from treeglot.sample import forests, generate, split

    show = Page(screen(width, colour))
    show.title(f"Treeglot {treeglot.__version__}: a look at its sample treebank")
    with Progress("making sentence pairs", unit="pairs", total=PAIRS) as progress:
        pairs = generate(PAIRS, SEED)
        parts = split(pairs)
        parsed = forests(parts)
        progress.update(PAIRS)
    known = [found for name, part in parts.items() for found in zip(part, parsed[name], strict=True)]
    pair, forest = choose(known)

    show.text(
        f"{PAIRS} pairs of Chinese and English sentences have been made with a synchronous grammar, each with trees, "
        "dependencies and alignment on record, and the Chinese ones parsed with the grammar of their own trees. Some:"
    )
    for example in sorted(pairs[:40], key=lambda p: len(p.source))[:3]:
        show.words(example)
    show.text("Now one of them from all sides:")
    show.words(pair)

    show.heading("Its trees")
    show.value(pair.source_tree)
    show.value(pair.target_tree)

    show.heading("Its forest")
    show.text(explain(pair, forest))
    show.value(forest, best_tree=False)
    if forest.count() > 1:
        show.text("The second best tree:")
        show.value(forest.kbest(2)[1][1])

    show.heading("Its dependencies")
    show.value(pair.source_dependency)
    show.value(pair.target_dependency)

    show.heading("Its word alignment")
    show.value(pair.alignment, source=pair.source, target=pair.target)

    show.heading("What to try next")
    print(show.screen.glyphs(NEXT), end="")


def choose(known: Sequence[tuple[SamplePair, ParseForest]]) -> tuple[SamplePair, ParseForest]:
    """The pair to show: 与 is "and" in one of its two best parses and "with" in the other, and the forest is small.

    Where there is none such, any ambiguous one; where there is none of those either, any.
    """

    def rank(known: tuple[SamplePair, ParseForest]) -> tuple[bool, bool, bool, int]:
        pair, forest = known
        two = [tree for _, tree in forest.kbest(2)]
        tags = {tree.tags[pair.source.index(AND_OR_WITH)] for tree in two} if AND_OR_WITH in pair.source else set()
        return len(tags) < 2, len(two) < 2, len(pair.source) < 7, forest.graph.edges

    return min(known, key=rank)


def explain(pair: SamplePair, forest: ParseForest) -> str:
    """Why the sentence has several parses."""
    text = (
        f"The {forest.count():,.0f} parses of the Chinese sentence in one graph: a node is a label over a span of "
        "words, and each line is a way to build it."
    )
    two = [tree for _, tree in forest.kbest(2)]
    if AND_OR_WITH in pair.source and len(two) == 2:
        word = pair.source.index(AND_OR_WITH)
        first, second = (tree.tags[word] for tree in two)
        if first != second:
            meaning = {"CC": "'and'", "P": "'with'"}
            text += (
                f" The word {AND_OR_WITH} can be {meaning.get(first, first)} ({first}, as in the best tree) "
                f"or {meaning.get(second, second)} ({second}); a model that keeps both can still choose."
            )
    return text


class Page:
    """Headings, paragraphs and drawings on standard output."""

    def __init__(self, screen: Screen) -> None:
        """Drawn for `screen`."""
        self.screen = screen

    def title(self, text: str) -> None:
        """The line above everything."""
        from treeglot.syntax.draw.terminal import Piece

        print(self.screen.line([Piece(text, "word")]))

    def heading(self, text: str) -> None:
        """A heading, with a line across the page."""
        from treeglot.syntax.draw.terminal import Piece

        line = "─" * max(0, min(self.screen.width, 80) - len(text) - 4)
        print()
        print(self.screen.line([Piece("── ", "faint"), Piece(text, "word"), Piece(f" {line}", "faint")]))

    def text(self, text: str) -> None:
        """A paragraph."""
        print()
        for line in textwrap.wrap(self.screen.readable(text), max(1, min(self.screen.width, 80) - 2)):
            print(line)

    def words(self, pair: SamplePair) -> None:
        """The two sentences of a pair."""
        from treeglot.syntax.draw.terminal import Piece

        print()
        for words in (pair.source, pair.target):
            print("  " + self.screen.line([Piece(self.screen.readable(" ".join(words)), "word")]))

    def value(self, value: Any, **how: Any) -> None:
        """A drawing."""
        from treeglot.syntax.draw import to_text

        print()
        print(to_text(value, self.screen, **how))
        sys.stdout.flush()
