"""`treeglot lm train`: trains an n-gram model from text, or a dependency model from trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.dependency_model import TagColumn, TreeFile, TreeFormat
from treeglot.cli.dependency_model import train as train_trees
from treeglot.cli.machines import open_machines, refuse_with_spark
from treeglot.cli.output import Stages, say, shown_warnings
from treeglot.cli.parameters import FILE, HERE, MasterOption, TextFile, Threads, Where

STAGES = {"counting": "words", "sorting": "words", "merging": "sorted runs", "writing": "n-grams"}


def lm_train(
    text: Annotated[
        TextFile, typer.Argument(help="Text, one sentence per line, or trees with --dependency; - is standard input.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="The ARPA file to write, a compiled one with --classes or --dependency; - is standard output.",
        ),
        FILE,
    ] = Path("-"),
    order: Annotated[int, typer.Option(help="Words in the longest n-grams, 1 to 9.")] = 5,
    prune: Annotated[
        str,
        typer.Option(
            metavar="COUNTS",
            help="Leave out n-grams that occur at most so often, by order. The last count is also for higher orders: "
            '"0 0 1" drops n-grams that occur once, from trigrams on.',
        ),
    ] = "0",
    memory: Annotated[str, typer.Option(help="Approximate memory to use; the rest goes through the disk.")] = "2G",
    scratch: Annotated[
        Path | None, HERE, typer.Option(help="The folder for data that does not fit into memory.")
    ] = None,
    fallback: Annotated[
        bool, typer.Option(help="Use the discounts 0.5, 1, 1.5 where they cannot be estimated, with a warning.")
    ] = True,
    threads: Threads = 1,
    classes: Annotated[
        Path | None, typer.Option(help="Train the model over classes of words; lm classes finds them.")
    ] = None,
    dependency: Annotated[
        Literal["words", "tags"] | None,
        typer.Option(help="Train a dependency model over these instead; the options above but --out are not for it."),
    ] = None,
    conditioning: Annotated[
        Literal["sibling", "trigram"] | None,
        typer.Option(
            help="What a dependency model predicts a child from: its head and last sibling, or the last two of its "
            "head and siblings (trigram, the default)."
        ),
    ] = None,
    from_: TreeFormat = None,
    read_tags: TagColumn = None,
    engine: Where = "local",
    master: MasterOption = "",
) -> None:
    """Train an n-gram model from text, or a dependency model from trees.

    Both use interpolated modified Kneser-Ney smoothing, n-gram models in the same way as lmplz.
    """
    if dependency is not None:
        options = (order, prune, memory, scratch, fallback, threads, classes, engine, master)
        if options != (5, "0", "2G", None, True, 1, None, "local", ""):
            given = "--order, --prune, --memory, --scratch, --no-fallback, --threads, --classes, --engine and --master"
            raise UsageError(f"{given} are for n-gram models")
        with Stages({"counting": "trees"}) as stages:
            trees = TreeFile(str(text), from_, read_tags)
            train_trees(trees, dependency, conditioning, str(out), stages.update)
        return
    if from_ or read_tags or conditioning:
        given = "--conditioning, --from and --read-tags"
        raise UsageError(f"{given} are for dependency models: give --dependency words or tags")
    from treeglot.lm.classes import WordClasses
    from treeglot.lm.ngram import train_compiled
    from treeglot.lm.train import FALLBACK, train_ngram

    try:
        thresholds = [int(count) for count in prune.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"--prune is {prune!r}; expected counts such as '0 0 1'") from None
    if classes is not None:
        refuse_with_spark(classes=engine == "spark")
    with open_machines(engine, master, threads, out) as machines, shown_warnings(), Stages(STAGES) as stages:
        chosen: dict[str, Any] = {"prune": thresholds, "fallback": FALLBACK if fallback else None}
        chosen.update(memory=memory, scratch=scratch, threads=threads, progress=stages.update)
        if classes is None:
            training = train_ngram(text, order, out=out, machines=machines, report=say, **chosen)
        else:
            training = train_compiled(text, out, order, classes=WordClasses.read(classes), **chosen)
    report = training.report
    say(f"{report.tokens:,} words, {report.types:,} different ones, in {report.sentences:,} lines")
    for n, (kept, counted, discounts) in enumerate(zip(report.kept, report.counted, report.discounts, strict=True), 1):
        of = f" of {counted:,}" if counted != kept else ""
        say(f"{n}-grams: {kept:,}{of}, discounts {' '.join(f'{d:.4f}' for d in discounts)}")
