"""`treeglot neural train`: a joint model from an aligned corpus."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import Progress, say, shown_warnings
from treeglot.cli.parameters import FILE, Fields, Threads

if TYPE_CHECKING:
    from treeglot._core import JointEpoch


def neural_train(
    source: Annotated[Path, typer.Argument(help="Tokenised source sentences, one a line.")],
    target: Annotated[Path, typer.Argument(help="Tokenised target sentences, one a line.")],
    alignments: Annotated[Path, typer.Argument(help="Their links, 0-0 1-2, as treeglot align writes them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's file."), FILE],
    dev_source: Annotated[Path | None, typer.Option(help="Source sentences to judge epochs by.")] = None,
    dev_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    dev_alignments: Annotated[Path | None, typer.Option(help="Their links.")] = None,
    options: Annotated[Any, Fields("treeglot.neural.options", "JointOptions")] = None,
    threads: Threads = 1,
) -> None:
    """Train a neural joint model: target words predicted from target words and aligned source words.

    The same command continues an interrupted run. Until then its state is in a folder beside OUT.
    """
    from treeglot.neural.train import train_joint
    from treeglot.syntax.formats import read_parallel

    dev = (dev_source, dev_target, dev_alignments)
    if any(dev) and not all(dev):
        raise UsageError("--dev-source, --dev-target and --dev-alignments belong together")
    if str(out) == "-":
        raise UsageError("a joint model cannot be written to standard output: it has to be a file")

    def read(texts: Path, translations: Path, links: Path) -> Any:
        return read_parallel((texts, "text"), (translations, "text"), (links, "pharaoh"))

    state = out.resolve().with_name(f".{out.name}.state")
    with Progress("training", unit="examples") as bar, shown_warnings():

        def progress(epoch: int, done: int, total: int) -> None:
            bar.update((epoch - 1) * total + done, options.networks * options.epochs * total)

        def begin(network: int) -> None:
            if options.networks > 1:
                say(f"network {network} of {options.networks}:")

        model = train_joint(
            read(source, target, alignments),
            options,
            dev=read(*dev) if all(dev) else None,  # type: ignore[arg-type]
            threads=threads,
            state=state,
            progress=progress,
            begin=begin,
            report=tell,
        )
    model.write(str(out))
    shutil.rmtree(state, ignore_errors=True)


def tell(epoch: JointEpoch) -> None:
    """One line about an epoch."""
    say(
        f"epoch {epoch.epoch}: perplexity {epoch.perplexity:.3f}{' (best)' if epoch.best else ''}, "
        f"log Z {epoch.mean_log_sum:+.3f} ± {epoch.log_sum_error:.3f}, "
        f"training loss {epoch.train_loss:.4f}, rate {epoch.rate:g}"
    )
