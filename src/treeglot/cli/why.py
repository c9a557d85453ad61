"""`treeglot why`: explains where the words of a translation come from, and why it is not another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import show, shown_warnings
from treeglot.cli.parameters import ModelFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treeglot.models.explain import Explanation, Instead, Reason
    from treeglot.models.neural import NeuralWord
    from treeglot.rules.provenance import Example


def why(
    model: ModelFolder,
    sentence: Annotated[str, typer.Argument(help="A sentence, as the model translates it.")],
    instead: Annotated[str | None, typer.Option(help="Another output: explain why it was not chosen.")] = None,
    examples: Annotated[int, typer.Option(help="Sentence pairs shown for each rule.", min=0)] = 3,
) -> None:
    """Explain each word of a translation: its rule, the rule's margin, and the sentence pairs that the rule comes from.

    The margin is the score that the translation would lose without the rule. Sentence pairs are shown if the model was
    trained with the option provenance. Models that translate parses need a parser; without one, they use only phrases.
    """
    from treeglot.models import load

    with shown_warnings():
        found = load(model).explain(sentence, instead, examples)
    if found.translation.problem:
        raise UsageError(found.translation.problem)
    show(found.translation.text)
    for reason in found.reasons:
        _print_reason(found, reason)
    if found.neural:
        show("\nneural joint model, by word: natural log, word, affiliated source word")
    _print_words(found.neural)
    for name, words in found.networks.items():
        show(f"\nnetwork {name}: natural log, output, source word")
        _print_words(words)
    if found.instead is not None:
        _print_instead(found.instead)


def _print_words(words: Sequence[NeuralWord]) -> None:
    for word in words:
        show(f"  {word.score:9.4f}  {word.word}  {word.source} ({word.place})")


def _print_reason(found: Explanation, reason: Reason) -> None:
    words = found.translation.best.text.split(" ")
    show(f"\n{' … '.join(words[place] for place in reason.words)}")
    show(f"  rule      {reason.step}")
    if reason.step.local:
        show("  local     not a rule of the table: an unknown word, or given with the input")
        return
    if reason.correction is not None:
        made = reason.correction
        show(f"  corrected {', '.join(part for part in (made.action, made.author, made.date) if part)}")
    if reason.probability is not None:
        show(f"  p         {reason.probability:.4g}")
    if reason.runner_up is None:
        show("  margin    none: the search kept nothing else")
    else:
        show(f"  margin    {reason.margin:.4f} over: {reason.runner_up.text}")
    if reason.examples is not None:
        show(f"  pairs     {reason.examples.pairs:,}")
        for example in reason.examples.examples:
            print_example(example)


def print_example(example: Example) -> None:
    """Print a sentence pair. The marked words stand between asterisks."""
    source, target = example.lines()
    show(f"  {example.pair:>8}  {source}\n            {target}")


def _print_instead(instead: Instead) -> None:
    show(f"\ninstead: {' '.join(instead.words)}")
    if instead.found is None:
        show("  no derivation gives it")
        for part in instead.parts:
            words = " ".join(instead.words[slice(*part.target)])
            show(f"  reached   [{part.label}] words {part.source[0]}-{part.source[1]}: {words}")
        show(f"  missing   {instead.missing}")
        return
    limited = "" if instead.exact else ", the best that a limited search kept: an exact one does not finish"
    show(f"  score     {instead.found.score:.4f}{limited}")
    if instead.search_error:
        show("  it scores more than what the search found: the search missed it")
    for name, loss in instead.losses:
        show(f"  {'loses' if loss > 0 else 'gains'}     {abs(loss):.4f} by {name}")
    for line in str(instead.found.derivation).splitlines():
        show(f"  {line}")
