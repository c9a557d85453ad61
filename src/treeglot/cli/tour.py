"""`treeglot tour`: shows one sentence pair of the sample treebank, with the command for each picture."""

from __future__ import annotations

import sys
import tempfile
import textwrap
from pathlib import Path

import typer

from treeglot.cli.output import Progress, settings
from treeglot.cli.screen import Colour, Page, Width, screen

PAIRS = 600
PAIR = 499  # of those for training: 与 is "with" in the best parse of its sentence, and "and" in the next

# Headings, what to say below them, and commands; @ is before the names of files.
STEPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Its trees", "", (f"show @train.zh.tree --index {PAIR}", f"show @train.en.tree --index {PAIR}")),
    (
        "Its forest",
        "All parses of the Chinese sentence that a parser found, in one graph: a node is a label over a span of words, "
        "and each line is a way to build it. The word 与 can be 'with' (P, as in the best tree) or 'and' (CC); a model "
        "that keeps both can still choose.",
        (f"show @train.zh.forest.jsonl --index {PAIR}",),
    ),
    ("Its dependencies", "", (f"show @train.zh.conllu --index {PAIR}", f"show @train.en.conllu --index {PAIR}")),
    ("Its word alignment", "", (f"show @train.align --index {PAIR} --source @train.zh --target @train.en",)),
    (
        "A language model of the English sentences",
        "A trigram model is trained, and asked about sentences that it has not seen.",
        ("lm train @train.en --order 3 --out @en.arpa", "lm score @en.arpa @dev.en --total"),
    ),
    (
        "A translation",
        "A Hiero model is taken from the training pairs and their alignments; its weights are not tuned.",
        (
            "train hiero --source @train.zh --target @train.en --alignments @train.align --out @model",
            "translate @model @test.zh --index 1-3",
        ),
    ),
)

NEXT = """\

treeglot sample --out sample                # 3,000 such pairs as files
treeglot show sample/train.zh.forest.jsonl  # its first forest
treeglot show sample/train.en.tree --index 1-9 --html trees.html
treeglot convert sample/train.en.tree en.conllu --heads english
treeglot lm train --order 3 sample/train.en --out en.arpa
treeglot train hiero --source sample/train.zh --target sample/train.en \\
    --alignments sample/train.align --out model
treeglot translate model sample/test.zh --out test.en --html test.html
treeglot score test.en sample/test.en
treeglot demo                               # all models, tuned and compared
treeglot --help                             # all commands, in the order of use
"""


def tour(width: Width = None, colour: Colour = None) -> None:
    """Show one sentence pair of the sample treebank: trees, forest, dependencies and alignment."""
    import treeglot
    from treeglot.sample import write_corpus

    page = Page(screen(width, colour))
    page.title(f"Treeglot {treeglot.__version__}: a look at its sample treebank")
    with tempfile.TemporaryDirectory() as folder:
        with Progress("parsing sentence pairs", unit="pairs", total=PAIRS) as progress:
            write_corpus(folder, PAIRS)
            progress.update(PAIRS)
        page.text(
            f"{PAIRS} pairs of Chinese and English sentences from a synchronous grammar, each with trees, dependencies "
            "and alignment on record; the Chinese ones are parsed by a parser of their own trees. One of them:"
        )
        page.lines([Path(folder, f"train.{side}").read_text().splitlines()[PAIR - 1] for side in ("zh", "en")])
        for heading, text, commands in STEPS:
            page.heading(heading)
            if text:
                page.text(text)
            for command in commands:
                shown = textwrap.wrap(f"$ treeglot {command.replace('@', '')}", max(20, min(page.screen.width, 80) - 4))
                page.lines([*(f"{line} \\" for line in shown[:-1]), shown[-1]])
                print(flush=True)
                _run(command, Path(folder), page.screen.width, page.screen.colour)
    page.heading("What to try next")
    print(page.screen.glyphs(NEXT), end="")


def _run(command: str, folder: Path, width: int, colour: bool) -> None:
    from treeglot.cli import main

    words = [str(folder / word[1:]) if word.startswith("@") else word for word in command.split()]
    if words[0] == "show":
        words += ["--width", str(width), "--colour" if colour else "--no-colour"]
    if code := main([*words, *(["--quiet"] if settings().quiet else [])]):
        raise typer.Exit(code)
    sys.stdout.flush()
