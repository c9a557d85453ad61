"""`treeglot translate`: sentences with a trained model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.decoding import REFUSED, Output, check_translated, given_weights, run, searched
from treeglot.cli.output import say, shown_warnings
from treeglot.cli.parameters import (
    InputFormat,
    MasterOption,
    ModelFolder,
    NewFile,
    Settings,
    TimeLimit,
    set_option,
    set_values,
)
from treeglot.cli.show import index_range

if TYPE_CHECKING:
    from treeglot.decode import Translation
    from treeglot.decode.translator import Source
    from treeglot.models import Model


def translate(
    model: ModelFolder,
    source: Annotated[
        Path,
        typer.Argument(
            help="Sentences, forests, trees or a document (.html, .xliff, .po, .docx), by its suffix; - is standard "
            "input, of sentences."
        ),
    ] = Path("-"),
    output: Output = Output(),  # noqa: B008
    pop_limit: Annotated[int | None, typer.Option(help="Hypotheses scored per node; 0: all.")] = None,
    time_limit: TimeLimit = None,
    span_limit: Annotated[int | None, typer.Option(help="Widest span of a rule.")] = None,
    mbr: Annotated[
        int | None, typer.Option(help="Choose by minimum Bayes risk among so many hypotheses; 0: the best score.")
    ] = None,
    settings: Annotated[Settings, set_option("An option of the search, as model.toml has them: search.beam=50")] = None,
    markup: Annotated[bool, typer.Option(help='The input gives translations: <x translation="…">…</x>.')] = False,
    glossary: Annotated[
        Path | None, typer.Option(help="Terms that translations must, should or must not use: a table, or TBX.")
    ] = None,
    corrections: Annotated[
        Path | None, typer.Option(help="Rules to add, forbid or reweight, in place of the model's corrections.txt.")
    ] = None,
    weights: Annotated[Path | None, typer.Option(help="Other weights than the model's.")] = None,
    format: InputFormat = None,
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
    engine: Annotated[
        Literal["local", "spark"],
        typer.Option(help="Translate here, or in shards on a Spark cluster. The output is the same."),
    ] = "local",
    master: MasterOption = "",
) -> None:
    """Translate text or sentences in words with a trained model."""
    given_here = dict(locals())
    if engine == "spark" or master:
        _spread(**given_here)
        return
    from treeglot.base.options import changed, options_of, unknown
    from treeglot.decode import SearchOptions
    from treeglot.documents.files import is_document
    from treeglot.models import load

    with shown_warnings():
        loaded = load(model)
        if corrections is not None:
            loaded = loaded.with_corrections(corrections)
    if loaded.corrections is not None:
        say(f"corrections: {len(loaded.corrections):,} hold")
    if glossary is not None:
        loaded = loaded.with_glossary(glossary)
    if weights is not None:
        loaded = loaded.with_weights(given_weights(weights))
    given = set_values(settings)
    for name in given.keys() - {"search"}:
        raise UsageError(unknown("option", name, [f"search.{o.name}" for o in options_of(SearchOptions)]))
    options = changed(loaded.file, given).search
    options = searched(
        options, markup=markup, pop_limit=pop_limit, time_limit=time_limit, span_limit=span_limit, mbr=mbr
    )
    if options != loaded.translator.options:
        loaded = loaded.with_search(options)
    if document or (format is None and is_document(source)):
        others = (format, markup, dependencies, resume, index != "1-", abstain)
        if any(others) or output != Output(output.out, threads=output.threads):
            raise UsageError(f"{source} is a document, which is translated whole; expected --out and --threads alone")
        with shown_warnings():
            loaded.translate_file(source, output.out, threads=output.threads)
        return
    held = "" if loaded.corrections is None else loaded.corrections.digest
    more = format, index, output.as_json, output.trace, abstain, loaded.glossary, held
    key = _key(loaded, source, output.out, *more) if resume else ""
    output = replace(output, dependencies=dependencies, key=key)
    if dependencies is not None and not loaded.translator.makes_trees:
        raise UsageError("the model makes no dependency trees: --dependencies is for those that do, such as c2d")
    batch: Callable[..., list[Translation]] = loaded.translate_batch
    if abstain is not None:
        from treeglot.models.confidence import translate_sure

        if loaded.translator.judge is None:
            raise UsageError(f"{model} has no confidence.json; expected `treeglot confidence` before --abstain")
        batch = partial(translate_sure, loaded, abstain)
    first, last = index_range(index)
    sources = loaded.read(source, format)
    chosen = islice(_lines(sources) if markup else sources, first - 1, last)
    with shown_warnings():
        terms = run(loaded.translator, chosen, source, output, first, batch)
    if loaded.glossary is not None:
        entries = {entry for entry in terms if entry >= 0}
        times = sum(terms[entry] for entry in entries)
        say(f"glossary: {len(entries):,} of {len(loaded.glossary.entries):,} entries used, {times:,} times")


def _spread(
    model: Path, source: Path, output: Output, engine: Literal["local", "spark"], master: str, **given: Any
) -> None:
    """Translate on the machines of a cluster, which all see the model, the input and the folder of the output."""
    from treeglot.cli.spread import spread
    from treeglot.documents.files import is_document
    from treeglot.models import load
    from treeglot.rules.engines import open_engine

    plain = Output(output.out, trace=output.trace, threads=output.threads, skip_bad=output.skip_bad)
    if output != plain or given["dependencies"] or given["resume"] or given["index"] != "1-":
        refused = "--kbest, --json, --forest, --html, --svg, --time, --dependencies, --resume and --index"
        raise UsageError(f"--engine spark writes a line for each sentence; it does not take {refused}")
    if str(source) == "-" or str(output.out) == "-":
        raise UsageError(
            "--engine spark needs files that all machines see; expected a file of sentences, and --out FILE"
        )
    if given["document"] or (given["format"] is None and is_document(source)):
        raise UsageError(f"{source} is a document, which is translated whole; expected no --engine")
    with open_engine("spark" if engine == "spark" else "duckdb", master, output.threads) as opened:
        if opened is not None:
            files = {name: given[name] for name in ("glossary", "corrections", "weights")}
            given |= {name: path.resolve() for name, path in files.items() if path is not None}
            given |= {"model": model.resolve(), "source": source.resolve(), "output": output}
            records = sum(1 for _ in load(model).read(source, given["format"]))
            told = spread(partial(translate_shard, given), records, output.out, opened)
            if not output.skip_bad:
                check_translated(sum(line.endswith(REFUSED) for line in told), records)


def translate_shard(given: Mapping[str, Any], index: str, out: Path) -> None:
    """Translate the sentences of an index with the options of `translate`."""
    output = replace(given["output"], out=out, skip_bad=True)
    translate(**{**given, "index": index, "output": output})


def _key(model: Model, source: Path, out: Path, *more: object) -> str:
    """A digest of all that the output depends on. Files count by path, size and time.

    The output may lie in the model's folder: neither it nor what an interrupted run left of it is a part of the model.
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
    """Whether a file is the output, or the part of it that an interrupted run left."""
    begins = path.parent == written.parent and path.name.startswith(f".{written.name}.")
    return path == written or (begins and path.name.endswith(".partial"))


def _lines(sources: Iterator[Source]) -> Iterator[Source]:
    """Sentences alone: a parse has no room for markup."""
    for source in sources:
        if not isinstance(source, str):
            raise UsageError("--markup is for sentences; the input has forests or trees")
        yield source
