"""`treeglot compounds`: replaces rare words by words that are frequent in the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import say
from treeglot.cli.parameters import FILE, TextFile
from treeglot.text.compounds import CompoundOptions


def compounds(
    corpus: Annotated[
        TextFile, typer.Argument(help="Tokenised training sentences, one per line: their words are counted.")
    ],
    text: Annotated[TextFile, typer.Argument(help="Tokenised sentences with rare words; - is standard input.")],
    options: CompoundOptions,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the sentences go; - is standard output."), FILE
    ] = Path("-"),
) -> None:
    """Replace rare words with words of a training corpus: split compounds, and change endings.

    Run this on the training text and on every input of a model. The command reports the number of words that are not in
    the corpus, before and after.
    """
    from treeglot.base.files import write_binary
    from treeglot.syntax.formats import read_text
    from treeglot.text.compounds import CompoundSplitter

    splitter = CompoundSplitter.learn(read_text(corpus), options)
    words = parts = unknown = left = 0
    with write_binary(out) as stream:
        for sentence in read_text(text):
            made = splitter.apply(sentence)
            stream.write((" ".join(made) + "\n").encode())
            words, parts = words + len(sentence), parts + len(made)
            unknown += sum(word not in splitter.counts for word in sentence)
            left += sum(word not in splitter.counts for word in made)
    say(f"{words:,} words, {unknown:,} of them unknown: now {parts:,}, {left:,} of them unknown")
