"""Trains split grammars on treebanks: split, EM, merge, EM, smooth (Petrov et al. 2006)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from treeglot import _core
from treeglot._core import SignatureKind, SplitGrammar, Trainer, Tree, Treebank, clean_tree
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_chunks, write_binary
from treeglot.base.options import MOST_SEED, Options, option
from treeglot.lm.classes import WordClasses
from treeglot.parse.grammar import CLASSES, FILES, ParserFile, read_settings, write_level, write_settings

MOST_CYCLES = 6
PROBLEMS_KEPT = 20

Progress = Callable[[str, int, int, float], None]
"""(what is done, how much of it, of how much, log likelihood before)."""


@dataclass(frozen=True)
class ParserTraining(Options):
    """Options for training a grammar. The defaults are near those of Petrov et al. (2006)."""

    cycles: int = option(
        4,
        "cycles of splitting: 0 is the plain PCFG; each splits all states and merges half of them again",
        least=0,
        most=MOST_CYCLES,
    )
    clean: bool = option(True, "remove traces, functional tags and indices first")
    horizontal: int = option(0, "sisters that parts of rules remember when rules become binary", least=0)
    vertical: int = option(1, "labels upwards that a label remembers, itself included", least=1)
    root: str = option("", "label above all trees; default: their common one, or else ROOT")
    signature: Literal["english", "german", "chinese"] = option("english", "how unknown words are put into classes")
    split_iterations: int = option(20, "iterations of EM after splitting", least=0)
    merge_iterations: int = option(10, "iterations of EM after merging", least=0)
    smooth_iterations: int = option(5, "iterations of EM with smoothing", least=0)
    merge: float = option(0.5, "share of the splits that is undone, the least useful ones", least=0, most=1)
    noise: float = option(0.01, "initial difference of the two halves of a state", least=0, most=1)
    smooth_grammar: float = option(
        0.01, "part of a rule's probability that is the mean over the states of its label", least=0, most=1
    )
    smooth_lexicon: float = option(0.1, "the same for words", least=0, most=1)
    least: float = option(
        1e-9, "probabilities of rules below this are 0 in the model; those of words stay", least=0, most=1
    )
    seed: int = option(1, "seed of the random differences", least=0, most=MOST_SEED // 1000 - 1)
    threads: int = option(1, "threads; they do not change the result", least=1)


@dataclass(frozen=True)
class TreebankReport:
    """The numbers of trees that training used and left out."""

    trees: int
    left_out: int
    problems: tuple[str, ...]  # the first of those left out, and why
    unary_cycles: int
    first_cycle: str


def treebank(trees: Iterable[Tree | None], options: ParserTraining | None = None) -> tuple[Treebank, TreebankReport]:
    """Prepare trees for training. Trees that cannot be used are left out and counted, and the first ones are named.

    >>> bank, report = treebank([Tree.parse("(S (NP-SBJ (-NONE- *)) (VP (VB go)))"), Tree()])
    >>> report.trees, report.left_out, report.problems
    (1, 1, ('tree 2: an empty tree',))
    """
    options = options or ParserTraining()
    # A bad record, which is None, was counted where it was read.
    ready = [(n, clean_tree(t) if options.clean else t) for n, t in enumerate(trees, 1) if t is not None]
    bank = Treebank(options.horizontal, options.vertical, options.root or _common_root(t for _, t in ready))
    left_out = 0
    problems: list[str] = []
    for number, tree in ready:
        try:
            bank.add(tree)
        except ValueError as error:
            left_out += 1
            if len(problems) < PROBLEMS_KEPT:
                problems.append(f"tree {number}: {error}")
    return bank, TreebankReport(len(bank), left_out, tuple(problems), bank.unary_cycles, bank.first_cycle)


def _common_root(trees: Iterable[Tree]) -> str:
    """Return the label that all roots and no other nodes have, or `ROOT` if there is none."""
    roots: set[str] = set()
    others: set[str] = set()
    for tree in trees:
        roots.update(tree.labels[:1])
        others.update(tree.labels[1:])
    return roots.pop() if len(roots) == 1 and not roots & others else "ROOT"


def train_parser(
    bank: Treebank,
    options: ParserTraining | None = None,
    progress: Progress | None = None,
    classes: WordClasses | None = None,
) -> SplitGrammar:
    """Return a grammar with `options.cycles` + 1 levels, in memory.

    With `classes`, rare and unseen words also learn their tags from the words of their class.

    >>> bank, _ = treebank([Tree.parse("(S (NP (PRP we)) (VP (VB go)))")])
    >>> train_parser(bank, ParserTraining(cycles=1)).labels
    ['S', 'PRP', 'NP', 'VB', 'VP']
    """
    options = options or ParserTraining()
    trainer = _trainer(bank, options, classes)
    for step in _steps(options.cycles):
        _do(trainer, step, options, progress)
    return trainer.grammar


def train_in(
    directory: PathLike,
    bank: Treebank,
    options: ParserTraining | None = None,
    progress: Progress | None = None,
    classes: WordClasses | None = None,
) -> SplitGrammar:
    """Train a grammar in a folder. Each level is written when it is finished, and the state after every step.

    A killed run, or one with more cycles, continues from the last finished step and produces the same bytes. Other
    trees, options or classes of words are refused.
    """
    options = options or ParserTraining()
    folder = Path(directory)
    trainer = _trainer(bank, options, classes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "training.state"
    steps = list(_steps(options.cycles))
    done = _restore(path, trainer, options)
    if classes and not done:
        classes.write(folder / CLASSES)
    for number, step in enumerate(steps[done:], done + 1):
        _do(trainer, step, options, progress)
        if step[0] == "finish":
            level = trainer.levels - 1
            before = read_settings(folder).sizes[: len(FILES) * level]
            sizes = before + write_level(folder, trainer.grammar, level)
            if len(sizes) < len(FILES) * trainer.levels:  # the levels before are of a version that did not note them
                sizes = ()
            settings = ParserFile(
                options.signature,
                options.horizontal,
                options.vertical,
                steps=True,
                levels=trainer.levels,
                classes=len(classes.words) if classes else 0,
                sizes=sizes,
            )
            write_settings(folder, settings)
        with write_binary(path) as stream:
            stream.write(f"{number} {_recipe(options)}\n".encode() + trainer.state())
    return trainer.grammar


def _trainer(bank: Treebank, options: ParserTraining, classes: WordClasses | None) -> Trainer:
    if len(bank) == 0:
        raise UsageError("there are no trees to train on")
    return Trainer(bank, SignatureKind[options.signature], classes.core if classes else None)


def _restore(path: Path, trainer: Trainer, options: ParserTraining) -> int:
    """Load the saved state into the trainer, and return the number of finished steps."""
    if not path.is_file():
        return 0
    first, _, rest = b"".join(read_chunks(path)).partition(b"\n")
    number, _, recipe = first.decode("utf-8", "replace").partition(" ")
    if not number.isdigit():
        raise FormatError(os.fspath(path), 0, "the saved state of training is damaged; remove it to begin again")
    if recipe != _recipe(options):
        raise UsageError(f"{os.fspath(path)}: training was begun with other options: {recipe}; now {_recipe(options)}")
    try:
        trainer.restore(rest)
    except ValueError as error:
        raise FormatError(os.fspath(path), 0, f"{error}; remove it to begin again") from error
    return int(number)


def _recipe(options: ParserTraining) -> str:
    """Return the settings that determine the bytes of a level, besides the trees.

    Cycles and threads are not among them.
    """
    left_out = ("cycles", "threads", "clean", "horizontal", "vertical", "root")  # from clean on: in the treebank's hash
    return " ".join(f"{name}={value}" for name, value in vars(options).items() if name not in left_out)


def _steps(cycles: int) -> Iterator[tuple[str, int]]:
    yield "finish", 0
    for cycle in range(1, cycles + 1):
        yield "split", cycle
        yield "merge", cycle
        yield "smooth", cycle
        yield "finish", cycle


def _do(trainer: _core.Trainer, step: tuple[str, int], options: ParserTraining, progress: Progress | None) -> None:
    kind, cycle = step
    iterations = 0
    if kind == "split":
        trainer.split(options.seed * 1000 + cycle, options.noise)
        iterations = options.split_iterations
    elif kind == "merge":
        trainer.merge(options.merge, options.threads)
        iterations = options.merge_iterations
    elif kind == "smooth":
        iterations = options.smooth_iterations
    else:
        # Level 0 stays as it is: relative frequencies. Rules of later ones are smooth already.
        trainer.finish_level(options.threads, options.least if cycle else 0.0, options.smooth_lexicon)
    for iteration in range(iterations):
        log_likelihood = trainer.em(options.threads)
        if kind == "smooth":
            trainer.smooth(options.smooth_grammar, options.smooth_lexicon)
        if progress is not None:
            progress(f"cycle {cycle}, {kind}", iteration + 1, iterations, log_likelihood)
