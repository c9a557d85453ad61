"""`treeglot tour`: one sentence pair of the sample treebank from all sides."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeglot.cli.output import Progress
from treeglot.cli.screen import Colour, Width, screen

if TYPE_CHECKING:
    from treeglot.models import Model
    from treeglot.sample.corpus import SamplePair
    from treeglot.syntax import ParseForest
    from treeglot.syntax.draw import Screen

PAIRS = 600
AND_OR_WITH = "与"

NEXT = """\

treeglot sample --out sample                # 3,000 such pairs as files
treeglot show sample/train.zh.forest.jsonl  # its first forest
treeglot show sample/train.en.tree --index 1-9 --html trees.html
treeglot convert sample/train.en.tree en.conllu --heads english
treeglot lm train --order 3 sample/train.en --out en.arpa
treeglot train hiero --source sample/train.zh --target sample/train.en \\
    --alignments sample/train.align --out model
treeglot translate model sample/test.zh --out test.en
treeglot score test.en sample/test.en
treeglot demo                               # all models, tuned and compared
treeglot --help                             # all commands, in the order of use
"""


def tour(width: Width = None, colour: Colour = None) -> None:
    """Look at one sentence pair of the sample treebank from all sides."""
    import treeglot
    from treeglot.sample import forests, read_pairs, split

    show = Page(screen(width, colour))
    show.title(f"Treeglot {treeglot.__version__}: a look at its sample treebank")
    with Progress("parsing sentence pairs", unit="pairs", total=PAIRS) as progress:
        pairs = read_pairs(PAIRS)
        parts = split(pairs)
        parsed = forests(parts, cycles=0)
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

    show.heading("Language models of the English sentences")
    show.text(language_models(parts["train"], parts["dev"]))

    show.heading("A translation")
    with Progress("training a model", unit="pairs", total=len(parts["train"])) as progress:
        model = hiero(parts["train"])
        progress.update(len(parts["train"]))
    unseen = min(parts["test"], key=lambda p: abs(len(p.source) - 9))
    found = model.translate(" ".join(unseen.source))
    show.text(
        f"A Hiero model with {len(model.translator.table):,} rules, taken from the {len(parts['train'])} training "
        "pairs and their alignments (weights not tuned), translates a sentence that it has not seen:"
    )
    show.lines([" ".join(unseen.source), found.text])
    show.text("The rules that gave it, each with those below it further in:")
    steps = zip(found.derivation.depths(), found.derivation.steps, strict=True)
    show.lines([f"{'  ' * (depth - 2)}{step.source}  →  {step.target}" for depth, step in steps if not step.local])
    show.text(f"The reference: {' '.join(unseen.target)}")

    show.heading("What to try next")
    print(show.screen.glyphs(NEXT), end="")


def language_models(train: Sequence[SamplePair], dev: Sequence[SamplePair]) -> str:
    """Both kinds of language model, trained and asked."""
    import warnings

    from treeglot import lm
    from treeglot.lm.train import DiscountWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        words = lm.compile_ngram(lm.train_ngram([pair.target for pair in train], order=3))
        trees = lm.compile_dependency(lm.train_dependency([pair.target_dependency for pair in train]))
    perplexity = words.perplexity(" ".join(pair.target) for pair in dev)
    sentence = dev[0].target
    forwards, backwards = (words.score(" ".join(order)) for order in (sentence, sentence[::-1]))
    tree = trees.score(dev[0].target_dependency)
    return (
        f"A trigram model of the {len(train)} training sentences knows {len(words):,} words; its perplexity on the "
        f"{len(dev)} sentences kept for development is {perplexity.including_oovs:.1f}. It gives "
        f'"{" ".join(sentence)}" the log10 probability {forwards:.1f}, and the same words backwards {backwards:.1f}. '
        f"A dependency model, which asks what stands below each head, gives its tree {tree:.1f}."
    )


def hiero(train: Sequence[SamplePair]) -> Model:
    """A model of the pairs; its folder is gone when it has been loaded."""
    import tempfile
    from pathlib import Path

    from treeglot.corpus import Corpus
    from treeglot.models import train as train_model
    from treeglot.syntax import write

    with tempfile.TemporaryDirectory() as folder:
        source, target, links = (Path(folder) / name for name in ("source.txt", "target.txt", "links.align"))
        write(source, [pair.source for pair in train])
        write(target, [pair.target for pair in train])
        write(links, [pair.alignment for pair in train])
        return train_model("hiero", Corpus(source=source, target=target, alignments=links), Path(folder) / "model")


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
        self.lines([" ".join(pair.source), " ".join(pair.target)])

    def lines(self, lines: Sequence[str]) -> None:
        """Lines as they are, a little further in."""
        from treeglot.syntax.draw.terminal import Piece

        print()
        for line in lines:
            print("  " + self.screen.line([Piece(self.screen.readable(line), "word")]))

    def value(self, value: Any, **how: Any) -> None:
        """A drawing."""
        from treeglot.syntax.draw import to_text

        print()
        print(to_text(value, self.screen, **how))
        sys.stdout.flush()
