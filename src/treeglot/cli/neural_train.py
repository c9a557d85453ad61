"""`treeglot neural train`: trains a joint model from an aligned corpus."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import Progress, say, shown_warnings
from treeglot.cli.parameters import FILE, STREAMED, Fields, MaybeText, TextFile, Threads
from treeglot.syntax import Dependency

if TYPE_CHECKING:
    from treeglot._core import JointEpoch
    from treeglot.corpus import Corpus, Needs
    from treeglot.neural.train import LinkedPair, ParsedPair


def neural_train(
    context: typer.Context,
    source: Annotated[TextFile, typer.Argument(help="Tokenised source sentences, one per line.")],
    target: Annotated[TextFile, typer.Argument(help="Tokenised target sentences, one per line.")],
    alignments: Annotated[TextFile, typer.Argument(help="Their links, 0-0 1-2, as treeglot align writes them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's file."), FILE],
    source_parses: Annotated[
        MaybeText,
        typer.Option(help="Trees, forests or dependencies of the source sentences, for a model that sees them."),
    ] = None,
    source_heads: Annotated[
        str | None,
        STREAMED,
        typer.Option(help="Head table, by name or file: makes dependencies of source trees and forests."),
    ] = None,
    target_dependencies: Annotated[
        MaybeText,
        typer.Option(help="Dependencies of the target sentences, for a model whose history is heads and siblings."),
    ] = None,
    target_heads: Annotated[
        str | None,
        STREAMED,
        typer.Option(help="Head table, by name or file: makes dependencies if the file has trees."),
    ] = None,
    dev_source: Annotated[MaybeText, typer.Option(help="Source sentences to judge epochs by.")] = None,
    dev_target: Annotated[MaybeText, typer.Option(help="Their translations.")] = None,
    dev_alignments: Annotated[MaybeText, typer.Option(help="Their links.")] = None,
    dev_source_parses: Annotated[MaybeText, typer.Option(help="Their source parses.")] = None,
    dev_target_dependencies: Annotated[MaybeText, typer.Option(help="Their target dependencies.")] = None,
    options: Annotated[Any, Fields("treeglot.neural.options", "JointOptions")] = None,
    threads: Threads = 1,
) -> None:
    """Train a neural joint model, which predicts target words from earlier target words and aligned source words.

    If a run is interrupted, the same command continues it. Its state is stored in a folder beside OUT.
    """
    from treeglot.neural.train import train_joint

    dev = (dev_source, dev_target, dev_alignments)
    if any(dev) and not all(dev):
        raise UsageError("--dev-source, --dev-target and --dev-alignments belong together")
    for name, flag, file, beside in (
        ("source-parses", "parse", source_parses, dev_source_parses),
        ("target-dependencies", "heads", target_dependencies, dev_target_dependencies),
    ):
        if getattr(options, flag) and file is None:
            raise UsageError(f"--{flag} needs a file; expected --{name}")
        if file is not None and not getattr(options, flag) and _is_given(context, flag):
            raise UsageError(f"--no-{flag} and --{name} contradict each other; expected one of them")
        if (beside is None) != (file is None or dev_source is None):
            raise UsageError(f"--{name} and --dev-{name} belong together where there are dev files")
        options = dataclasses.replace(options, **{flag: file is not None})
    if str(out) == "-":
        raise UsageError("a joint model cannot be written to standard output: it has to be a file")
    tables = (source_heads, target_heads)
    pairs = _pairs((source, target, alignments), source_parses, target_dependencies, tables)
    judging = None
    if dev_source and dev_target and dev_alignments:
        if source_parses and dev_source_parses and source_heads is None:
            _check_same_kind(source_parses, dev_source_parses)
        files = (dev_source, dev_target, dev_alignments)
        # All of them are read first: training may take long to read.
        judging = [*_pairs(files, dev_source_parses, dev_target_dependencies, tables, dev="dev-")]

    state = out.resolve().with_name(f".{out.name}.state")
    with Progress("training", unit="examples") as bar, shown_warnings():

        def progress(epoch: int, done: int, total: int) -> None:
            bar.update((epoch - 1) * total + done, options.networks * options.epochs * total)

        def begin(network: int) -> None:
            if options.networks > 1:
                say(f"network {network} of {options.networks}:")

        model = train_joint(
            pairs,
            options,
            dev=judging,
            threads=threads,
            state=state,
            progress=progress,
            begin=begin,
            report=tell,
        )
    model.write(str(out))
    shutil.rmtree(state, ignore_errors=True)


def _is_given(context: typer.Context, name: str) -> bool:
    """Return whether the user gave an option on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _check_same_kind(parses: Path, dev: Path) -> None:
    """Refuse dev parses that differ in kind from those of the training corpus."""
    from treeglot.syntax.formats import find_format

    kinds = ["dependencies" if find_format(each).holds is Dependency else "constituents" for each in (parses, dev)]
    if kinds[0] != kinds[1]:
        raise UsageError(f"--dev-source-parses {dev} has {kinds[1]}; expected {kinds[0]}, which {parses} has")


def _pairs(
    files: tuple[Path, Path, Path],
    parses: Path | None,
    trees: Path | None,
    heads: tuple[str | None, str | None],
    dev: str = "",
) -> Iterator[LinkedPair | ParsedPair]:
    """Yield the sentence pairs with their links, and with their source parses and target dependencies, if any.

    The formats of the files are checked before anything is read. Errors name options with `dev` before them.
    """
    from treeglot.corpus import Corpus, Needs
    from treeglot.corpus.files import check_format
    from treeglot.syntax.formats import find_format

    for side, file, table in (("source", parses, heads[0]), ("target", trees, heads[1])):
        if table is not None and (file is None or find_format(file).holds is Dependency):
            found = "" if file is None else f", and {file} has dependencies already"
            raise UsageError(f"--{side}-heads makes dependencies of {side} trees{found}; expected a file of them")
    source, target, alignments = files
    corpus, needs = Corpus(source=source, target=target, alignments=alignments), Needs(source_tags=False)
    if parses is not None and find_format(parses).holds is Dependency:
        corpus = dataclasses.replace(corpus, source_dependencies=parses)
        needs = dataclasses.replace(needs, source="dependency")
    elif parses is not None:
        check_format("source_forests", parses, f"--{dev}source-parses")
        corpus, needs = dataclasses.replace(corpus, source_forests=parses), dataclasses.replace(needs, source="best")
    if heads[0] is not None:
        needs = dataclasses.replace(needs, source="dependency", source_heads=heads[0])
    if trees is not None and heads[1] is not None:
        check_format("target_trees", trees, f"--{dev}target-dependencies")
        corpus = dataclasses.replace(corpus, target_trees=trees)
        needs = dataclasses.replace(needs, target="dependency", target_heads=heads[1])
    elif trees is not None:
        check_format("target_dependencies", trees, f"--{dev}target-dependencies")
        corpus, needs = (
            dataclasses.replace(corpus, target_dependencies=trees),
            dataclasses.replace(needs, target="dependency"),
        )
    return _read(corpus, needs)


def _read(corpus: Corpus, needs: Needs) -> Iterator[LinkedPair | ParsedPair]:
    from treeglot.models.neural import parse_of

    pairs = corpus.pairs(needs)
    for pair in pairs:
        yield pair.source, pair.target, pair.links, parse_of(pair), pair.target_dependency
    for line in pairs.counts.lines():
        say(line)


def tell(epoch: JointEpoch) -> None:
    """Print the figures of one epoch in one line."""
    say(
        f"epoch {epoch.epoch}: perplexity {epoch.perplexity:.3f}{' (best)' if epoch.best else ''}, "
        f"log Z {epoch.mean_log_sum:+.3f} ± {epoch.log_sum_error:.3f}, "
        f"training loss {epoch.train_loss:.4f}, rate {epoch.rate:g}"
    )
