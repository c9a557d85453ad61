"""`treeglot translate`: translates with a trained model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.base.files import write_binary
from treeglot.cli.decoding import Done, Output, given_weights, run, searched, translate_into, warn_of
from treeglot.cli.machines import open_machines, refuse_with_spark
from treeglot.cli.output import Progress, say, shown_warnings, warn
from treeglot.cli.parameters import (
    InputFormat,
    Lattices,
    MappedFile,
    MasterOption,
    ModelFolder,
    NewFile,
    Settings,
    TextFile,
    TimeLimit,
    Where,
    set_option,
    set_values,
)
from treeglot.cli.show import index_range

if TYPE_CHECKING:
    from treeglot.base.shards import Machines
    from treeglot.decode import Translation
    from treeglot.decode.translator import Source
    from treeglot.models import Model


def translate(
    model: ModelFolder,
    source: Annotated[
        TextFile,
        typer.Argument(
            help="Sentences, forests, trees or a document (.html, .xliff, .po, .docx), by its suffix; - is standard "
            "input, of sentences."
        ),
    ] = Path("-"),
    output: Output = Output(),  # noqa: B008
    pop_limit: Annotated[int | None, typer.Option(help="Hypotheses popped per node; 0: all.")] = None,
    time_limit: TimeLimit = None,
    span_limit: Annotated[int | None, typer.Option(help="Widest span of a rule.")] = None,
    mbr: Annotated[
        int | None, typer.Option(help="Choose by minimum Bayes risk among so many hypotheses; 0: the best score.")
    ] = None,
    settings: Annotated[Settings, set_option("An option of the search, as model.toml has them: search.beam=50")] = None,
    markup: Annotated[bool, typer.Option(help='The input gives translations: <x translation="…">…</x>.')] = False,
    glossary: Annotated[
        MappedFile, typer.Option(help="Terms that translations must, should or must not use: a table, or TBX.")
    ] = None,
    corrections: Annotated[
        MappedFile, typer.Option(help="Rules to add, forbid or reweight, instead of the model's corrections.txt.")
    ] = None,
    weights: Annotated[MappedFile, typer.Option(help="Other weights than the model's.")] = None,
    format: InputFormat = None,
    lattices: Lattices = None,
    index: Annotated[str, typer.Option(help="Translate only these, counted from 1: 7, 7-9 or 7-.", metavar="N")] = "1-",
    dependencies: Annotated[
        NewFile, typer.Option(help="Write the outputs' dependency trees, if the model makes them: CoNLL-U or CoNLL-X.")
    ] = None,
    abstain: Annotated[
        float | None,
        typer.Option(help="Leave out translations whose confidence is below this.", metavar="P", min=0, max=1),
    ] = None,
    document: Annotated[
        bool, typer.Option("--document", help="Translate the file in place; suffixes other than .txt imply it.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue where the same command was interrupted.")] = False,
    engine: Where = "local",
    master: MasterOption = "",
) -> None:
    """Translate raw text, tokenised sentences or parses with a trained model."""
    from treeglot.documents.files import is_document

    limits = {"markup": markup, "pop_limit": pop_limit, "time_limit": time_limit, "span_limit": span_limit, "mbr": mbr}
    opening = Opening(model, corrections, glossary, weights, set_values(settings), limits, abstain)
    with shown_warnings():
        loaded = opening.open()
    if loaded.corrections is not None:
        say(f"corrections: {len(loaded.corrections):,} apply")
    if weights is not None:
        given_weights(weights)
    if document or (format is None and is_document(source)):
        refuse_with_spark(document=engine == "spark")
        others = (format, lattices, markup, dependencies, resume, index != "1-", abstain)
        if any(others) or output != Output(output.out, threads=output.threads):
            raise UsageError(f"{source} is a document, which is translated whole; expected --out and --threads alone")
        with shown_warnings():
            loaded.translate_file(source, output.out, threads=output.threads)
        return
    held = "" if loaded.corrections is None else loaded.corrections.digest
    variants = None if lattices is None else (lattices.resolve(), lattices.stat().st_size, lattices.stat().st_mtime_ns)
    more = format, variants, index, output.as_json, output.trace, abstain, loaded.glossary, held
    key = _key(loaded, source, output.out, *more) if resume else ""
    output = replace(output, dependencies=dependencies, key=key)
    if dependencies is not None and not loaded.translator.makes_trees:
        raise UsageError("the model makes no dependency trees: --dependencies is for those that do, such as c2d")
    batch = opening.batch(loaded)
    first, last = index_range(index)
    sources = loaded.read(source, format, lattices)
    chosen = islice(_lines(sources) if markup else sources, first - 1, last)
    with open_machines(engine, master, output.threads, output.out) as machines, shown_warnings():
        if machines is None:
            terms = run(loaded.translator, chosen, source, output, first, batch)
        else:
            own = (output.forest, output.html, output.svg)
            refuse_with_spark(forest=own[0], html=own[1], svg=own[2], dependencies=dependencies, resume=resume)
            job = TranslateShard(opening.resolved(), replace(output, threads=1), source, first)
            terms = _run_elsewhere(job, loaded, chosen, output, machines)
    if loaded.glossary is not None:
        entries = {entry for entry in terms if entry >= 0}
        times = sum(terms[entry] for entry in entries)
        say(f"glossary: {len(entries):,} of {len(loaded.glossary.entries):,} entries used, {times:,} times")


@dataclass(frozen=True)
class Opening:
    """The location of a model and its settings, so that any machine can open it."""

    model: Path
    corrections: Path | None
    glossary: Path | None
    weights: Path | None
    settings: dict[str, Any]
    limits: dict[str, Any]
    abstain: float | None

    @property
    def files(self) -> dict[str, Path]:
        """The files and folders that are needed to open the model, by field."""
        named = {name: getattr(self, name) for name in ("model", "corrections", "glossary", "weights")}
        return {name: path for name, path in named.items() if path is not None}

    def resolved(self) -> Opening:
        """Return a copy with absolute paths, because other machines work in another folder."""
        return replace(self, **{name: path.resolve() for name, path in self.files.items()})  # type: ignore[arg-type]

    def open(self) -> Model:
        """Open the model with these settings."""
        from treeglot.base.options import changed, options_of, unknown
        from treeglot.decode import SearchOptions
        from treeglot.decode.weights import read_weights
        from treeglot.models import load

        loaded = load(self.model)
        if self.corrections is not None:
            loaded = loaded.with_corrections(self.corrections)
        if self.glossary is not None:
            loaded = loaded.with_glossary(self.glossary)
        if self.weights is not None:
            loaded = loaded.with_weights(read_weights(self.weights))
        for name in self.settings.keys() - {"search"}:
            raise UsageError(unknown("option", name, [f"search.{o.name}" for o in options_of(SearchOptions)]))
        options = searched(changed(loaded.file, self.settings).search, **self.limits)
        return loaded if options == loaded.translator.options else loaded.with_search(options)

    def batch(self, model: Model) -> Callable[..., list[Translation]]:
        """Return the function that translates a batch of sentences with the opened model."""
        if self.abstain is None:
            return model.translate_batch
        from treeglot.models.confidence import translate_sure

        if model.translator.judge is None:
            raise UsageError(f"{self.model} has no confidence.json; expected `treeglot confidence` before --abstain")
        return partial(translate_sure, model, self.abstain)


@dataclass(frozen=True)
class TranslateShard:
    """Translates the sentences of a shard."""

    opening: Opening
    output: Output
    source: Path  # what messages call the input
    first: int  # place of the first sentence of all shards in it

    def open(self) -> Model:
        """Open the model that all shards use."""
        return self.opening.open()

    def run(self, opened: Model, records: list[Source], first: int, threads: int, part: Path) -> dict[str, Any]:
        """Translate a shard's sentences, and write the output. Return the counts and the untranslatable sentences."""
        refused: list[str] = []
        done = Done(replace(self.output, threads=threads), self.source, self.first, refused.append)
        done.number = first
        with write_binary(part) as stream:
            translate_into(stream, None, records, self.opening.batch(opened), done)
        done.number -= first
        return {**done.facts(), "refused": refused}


def _run_elsewhere(
    job: TranslateShard, model: Model, sources: Iterator[Source], output: Output, machines: Machines
) -> Counter[int]:
    """Translate in shards on a cluster. The result is the same as that of `run`."""
    from treeglot.base.shards import RECORDS, in_shards, join, shards_of, state_of

    warn_of(model.translator)
    done = Done(output, job.source, job.first)
    key, shards = state_of(*job.opening.files.values()), shards_of(sources, RECORDS)
    with (
        Progress("translating", unit="sentences") as progress,
        in_shards(job, shards, output.out, machines, key=key, threads=output.threads, report=say) as parts,
    ):
        join(parts, output.out)
        for part in parts:
            done.take(part.facts)
        progress.update(done.number)
    for problem in (problem for part in parts for problem in part.facts["refused"]):
        warn(problem)
    done.report()
    return done.terms


def _key(model: Model, source: Path, out: Path, *more: object) -> str:
    """Return a digest of everything that the output depends on. Each file is represented by its path, size and time.

    The output can be in the model's folder. Neither the output nor the leftovers of an interrupted run are part of the
    model.
    """
    import treeglot

    if not source.is_file():
        raise UsageError(f"--resume reads a part of the input again; expected a file, not {source}")
    written, folder = out.resolve(), model.directory.resolve()
    own = [path for path in folder.rglob("*") if path.is_file() and not _is_part_of(path, written)]
    paths = [source.resolve(), *sorted(own)]
    files = [(path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    parts = [treeglot.__version__, model.translator.options, sorted(model.weights.items()), files, *more]
    return blake2b(repr(parts).encode(), digest_size=6).hexdigest()


def _is_part_of(path: Path, written: Path) -> bool:
    """Return whether a file is the output, or a part of it that an interrupted run left."""
    begins = path.parent == written.parent and path.name.startswith(f".{written.name}.")
    return path == written or (begins and path.name.endswith(".partial"))


def _lines(sources: Iterator[Source]) -> Iterator[Source]:
    """Yield the sentences of the input. Parses are refused, because they cannot contain markup."""
    for source in sources:
        if not isinstance(source, str):
            raise UsageError("--markup is for sentences; the input has forests or trees")
        yield source
