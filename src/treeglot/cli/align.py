"""`treeglot align`: aligns the words of a parallel corpus."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.align.aligners import DEFAULT
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.storage import is_remote
from treeglot.cli.machines import open_machines, refuse_with_spark
from treeglot.cli.output import Progress, say, shown_warnings, warn
from treeglot.cli.parameters import (
    FILE,
    MappedFile,
    MasterOption,
    MaybeText,
    NewFile,
    NewFolder,
    Settings,
    TextFile,
    Threads,
    Where,
    set_option,
    set_values,
)

if TYPE_CHECKING:
    from treeglot.align import Aligner
    from treeglot.align.job import AlignShard
    from treeglot.base.shards import Machines
    from treeglot.syntax import Alignment, ParseForest, Tree


def align(
    source: Annotated[TextFile, typer.Argument(help="Tokenised source sentences, one per line.")],
    target: Annotated[TextFile, typer.Argument(help="Tokenised target sentences, one per line.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the links go: 0-0 1-2; - is standard output."), FILE
    ] = Path("-"),
    method: Annotated[str, typer.Option(help="sampler, hmm, or eflomal if it is installed.")] = DEFAULT,
    symmetrization: Annotated[
        str,
        typer.Option(
            help="intersection, union, grow-diag, grow-diag-and, grow-diag-final, grow-diag-final-and, agreement: how "
            "the two directions become one."
        ),
    ] = "grow-diag-final-and",
    options: Annotated[Settings, set_option("An option of the aligner")] = None,
    save: Annotated[
        NewFolder, typer.Option(help="A folder for the trained aligner, to align more text with --model.")
    ] = None,
    model: Annotated[
        MappedFile, typer.Option(help="The folder of a saved aligner: align with it, line by line, and train nothing.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Continue training the aligner of --model with these pairs.")
    ] = False,
    lexicon: Annotated[
        NewFile, typer.Option(help="Where word pairs go: source, target, p(target | source), p(source | target).")
    ] = None,
    posteriors: Annotated[
        NewFile,
        typer.Option(help="Where probabilities of links go, SOURCE-TARGET:FORWARD:BACKWARD; at least 0.05."),
    ] = None,
    source_trees: Annotated[
        MaybeText,
        typer.Option(
            help="Trees or forests of the source sentences: leave out doubtful links that break constituents."
        ),
    ] = None,
    target_trees: Annotated[
        MaybeText, typer.Option(help="Trees or forests of the target sentences, for the same.")
    ] = None,
    constituent_cost: Annotated[
        float, typer.Option(min=0, help="With trees: what a broken constituent costs, in nats.")
    ] = 1.0,
    gold: Annotated[
        MaybeText, typer.Option(help="Gold alignments: print the error rate, precision and recall.")
    ] = None,
    threads: Threads = 1,
    engine: Where = "local",
    master: MasterOption = "",
) -> None:
    """Align the words of a parallel corpus.

    If a run is interrupted, the same command continues it. Its state is stored beside OUT.
    """
    from treeglot.align.job import AlignShard
    from treeglot.syntax import write
    from treeglot.syntax.formats import read_alignments

    needed = save or lexicon or posteriors or source_trees or target_trees
    _check(method, symmetrization, update and model is None, method == "eflomal" and bool(needed))
    pairs = PairFiles(source, target)
    with open_machines(engine, master, threads, out) as machines:
        if machines is not None:
            refuse_with_spark(save=save, update=update, lexicon=lexicon, posteriors=posteriors)
            if model is None:
                raise UsageError("--engine spark aligns with a saved aligner; expected --model")
            job = AlignShard(
                model.resolve(), symmetrization, (bool(source_trees), bool(target_trees)), constituent_cost
            )
            _align_elsewhere(job, pairs, source_trees, target_trees, out, threads, machines)
            _compare(gold, source, list(read_alignments(out, "pharaoh")) if gold is not None else [])
            return
    state = None if model is not None else _state(out, save)
    with shown_warnings(), Progress("aligning", unit="%", total=100) as progress:

        def percent(done: int, of: int) -> None:
            progress.update(100 * done // of)

        aligner = _aligner(pairs, method, set_values(options), model, update, threads, state, percent)
        if aligner is None:
            links = _by_program(pairs, method, symmetrization, set_values(options), percent)
        else:
            links = aligner.align_all(pairs, symmetrization, threads=threads)
            if source_trees is not None or target_trees is not None:
                parses = [_parses(path, text) for path, text in ((source_trees, source), (target_trees, target))]
                links = aligner.mend(pairs, links, *parses, cost=constituent_cost, threads=threads)
        found = list(links) if gold is not None else []
        write(out, found or links, "pharaoh")
    for problem in pairs.problems():
        warn(problem)
    if aligner is not None and save is not None:
        aligner.save(save)
    if aligner is not None and lexicon is not None:
        _write_lexicon(aligner, lexicon)
    if aligner is not None and posteriors is not None:
        _write_posteriors(aligner, pairs, posteriors, threads)
    if state is not None:
        shutil.rmtree(state, ignore_errors=True)
    _compare(gold, source, found)


def _compare(gold: Path | None, source: Path, found: list[Alignment]) -> None:
    """Print how well the links agree with gold links, if gold links are given."""
    from treeglot.align import score_alignments
    from treeglot.syntax.formats import read_alignments

    if gold is None:
        return
    wanted = list(read_alignments(gold))
    if len(wanted) != len(found):
        raise FormatError(str(gold), 0, f"has {len(wanted)} lines; expected {len(found)}, as {source} has")
    judged = score_alignments(found, wanted)
    say(f"AER {judged.aer:.4f}, precision {judged.precision:.4f}, recall {judged.recall:.4f}, F1 {judged.f1:.4f}")


def _align_elsewhere(
    job: AlignShard,
    pairs: PairFiles,
    source_trees: Path | None,
    target_trees: Path | None,
    out: Path,
    threads: int,
    machines: Machines,
) -> None:
    """Align the corpus in shards on a cluster."""
    from treeglot.base.shards import RECORDS, in_shards, join, shards_of, state_of

    job.open()  # an aligner that cannot be read is an error before the work
    given = ((source_trees, pairs.files[0]), (target_trees, pairs.files[1]))
    parses = [found for found in (_parses(path, text) for path, text in given) if found is not None]
    records = ((*pair, *each) for pair, *each in zip(pairs, *parses, strict=True))
    key = state_of(job.model)
    with (
        Progress("aligning", unit="pairs") as progress,
        in_shards(job, shards_of(records, RECORDS), out, machines, key=key, threads=threads, report=say) as parts,
    ):
        join(parts, out)
        progress.update(sum(part.shard.records for part in parts))
    for problem in pairs.problems():
        warn(problem)


class PairFiles:
    """The sentence pairs of two files. Each iteration reads the files again; the first one counts doubtful pairs."""

    def __init__(self, source: Path, target: Path) -> None:
        from treeglot.align.clean import Faults
        from treeglot.corpus.doubts import Doubts

        self.files = source, target
        self.faults = Faults(str(source), str(target))
        self.doubts = Doubts(str(source)), Doubts(str(target))
        self._kept: list[Any] | None = None  # of files that cannot be read twice
        if not all(is_remote(file) or file.is_file() for file in self.files):
            self._kept = list(self)

    def __iter__(self) -> Iterator[tuple[list[str], list[str]]]:
        from treeglot.syntax.formats import read_parallel

        if self._kept is not None:
            yield from self._kept
            return
        first = self.faults.pairs == 0
        for source, target in read_parallel(*((file, "text") for file in self.files)):
            if first:
                self.faults.add(source, target)
                self.doubts[0].add(source, target)
                self.doubts[1].add(target)
            yield source, target

    def problems(self) -> list[str]:
        """Describe the doubtful pairs that the first iteration counted."""
        return self.faults.found() + self.doubts[0].found() + self.doubts[1].found()


def _check(method: str, symmetrization: str, no_model: bool, no_aligner: bool) -> None:
    from treeglot.align import ALIGNERS
    from treeglot.align.aligner import METHODS
    from treeglot.base.options import unknown

    if symmetrization not in METHODS:
        raise UsageError(unknown("symmetrisation", symmetrization, METHODS))
    if method not in ALIGNERS:
        raise UsageError(unknown("aligner", method, ALIGNERS))
    if no_model:
        raise UsageError("--update is for an aligner that --model names")
    if no_aligner:
        raise UsageError("eflomal is a program of its own and leaves no aligner to save or to ask for probabilities")


def _aligner(
    pairs: PairFiles,
    method: str,
    options: dict[str, Any],
    model: Path | None,
    update: bool,
    threads: int,
    state: Path | None,
    report: Callable[[int, int], None],
) -> Aligner | None:
    """Load, update or train the aligner. The program eflomal has none."""
    from treeglot.align import Aligner

    if model is not None:
        loaded = Aligner.load(model)
        return loaded.update(pairs, threads=threads, report=report) if update else loaded
    if method == "eflomal":
        return None
    return Aligner.train(pairs, method, options=options, threads=threads, folder=state or "", report=report)


def _by_program(
    pairs: PairFiles, method: str, symmetrization: str, options: dict[str, Any], report: Callable[[int, int], None]
) -> Iterator[Alignment]:
    from treeglot.align import align_corpus

    text = list(pairs)
    sides = [source for source, _ in text], [target for _, target in text]
    return iter(align_corpus(*sides, method, symmetrization, options=options, report=report))


def _write_posteriors(aligner: Aligner, pairs: PairFiles, path: Path, threads: int) -> None:
    from treeglot.base.files import write_binary

    with write_binary(path) as stream:
        for links in aligner.likely(pairs, threads=threads):
            told = (f"{s}-{t}:{forward:.3f}:{backward:.3f}" for s, t, forward, backward in links)
            stream.write((" ".join(told) + "\n").encode())


def _parses(path: Path | None, text: Path) -> Iterator[Tree | ParseForest] | None:
    """Yield the trees or forests of a file. Their number must be the number of lines in the text."""
    from treeglot.syntax import ParseForest, Tree
    from treeglot.syntax.formats import read_parallel

    if path is None:
        return None

    def each(path: Path) -> Iterator[Tree | ParseForest]:
        for number, (_, parse) in enumerate(read_parallel((text, "text"), path), start=1):
            if not isinstance(parse, Tree | ParseForest):
                problem = f"is of the type {type(parse).__name__}; expected trees or forests"
                raise FormatError(str(path), number, problem)
            yield parse

    return each(path)


def _write_lexicon(aligner: Aligner, path: Path) -> None:
    from treeglot.base.files import write_binary

    with write_binary(path) as stream:
        for source, target, forward, backward in aligner.lexicon():
            stream.write(f"{source}\t{target}\t{forward:.6g}\t{backward:.6g}\n".encode())


def _state(out: Path, save: Path | None) -> Path | None:
    """Return the folder that stores the state of an interrupted run."""
    if save is not None:
        return save / "state"
    beside = out.resolve()
    if str(out) == "-" or (beside.exists() and not beside.is_file()):
        return None
    return beside.with_name(f".{beside.name}.state")
