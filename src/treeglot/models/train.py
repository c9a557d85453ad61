"""From a parallel corpus to a model folder, for every kind of model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from treeglot.base.files import PathLike, scratch_folder, write_binary
from treeglot.base.sizes import parse_size
from treeglot.models.kind import Corpus, Work, check_format, option_name
from treeglot.models.kinds import find_kind
from treeglot.models.model import Model, load, write_model
from treeglot.models.parallel import parses, target_sentences


def train(
    kind: str,
    corpus: Corpus,
    out: PathLike,
    options: Any = None,
    *,
    lm: PathLike | None = None,
    lm_text: PathLike | None = None,
    threads: int = 1,
    memory: str | int = "2G",
    report: Callable[[str], None] = lambda line: None,
) -> Model:
    """Train a model into the folder `out`.

    `options` are those of the kind, such as `HieroModelOptions`. The language model is `lm` (ARPA or compiled) if
    given; otherwise one is trained on `lm_text` or, without it, on the target side. `report` is told what is done, line
    by line. Beside the model, `rules.parquet` holds the scored rules for inspection.
    """
    from treeglot.rules import DuckDB, compile_table, score

    declared = find_kind(kind)
    declared.check(corpus)
    for name in corpus.given():
        check_format(name, corpus.file(name), option_name(name))
    options = options or declared.options()
    declared.judge(options)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    work = Work(threads, parse_size(memory), report)

    with scratch_folder(folder, "extract") as scratch:
        extraction = declared.extract(corpus, scratch, options, work)
        report("rules extracted and counted")
        facts = (extraction.folder / "extraction.json").read_bytes()
        _report_counts(json.loads(facts)["counts"], report)
        # A model that was here is none any more from now on: its files must not be mixed with new ones.
        (folder / "model.toml").unlink(missing_ok=True)
        with write_binary(folder / "extraction.json") as stream:  # what was seen, and which options it was taken with
            stream.write(facts)
        engine = DuckDB(threads, work.memory, scratch)
        rules = score(extraction, folder / "rules.parquet", options.score, engine=engine)
    report(f"{rules:,} rules scored")
    compiled = compile_table(
        folder / "rules.parquet", folder / "rules.table", getattr(options, "compile", declared.compile)
    )
    left_out = f"; {compiled.too_wide:,} rules of too great a scope left out" if compiled.too_wide else ""
    if compiled.left_out:
        left_out += f"; {compiled.left_out:,} rules with a side of more than 255 symbols left out"
    if compiled.crossing:
        left_out += f"; {compiled.crossing:,} rules left out whose structures have cycles or crossing arcs"
    report(f"rule table compiled{left_out}")
    _make_lm(folder, lm, lm_text or corpus.target, corpus, options.lm_order, memory)
    report("language model compiled")
    declared.more(corpus, folder, options, work)
    write_model(folder, declared.name, declared.weights, options.search)
    return load(folder)


LOST = {
    "unlinked": "without links",
    "unparsed": "without a parse",
    "no_tree": "without a target tree",
    "bad": "left out as bad",
}


def _report_counts(counts: Mapping[str, int], report: Callable[[str], None]) -> None:
    """Say how many pairs there were, and how many of them gave nothing; warn if no pair has links."""
    pairs = counts["pairs"]
    lost = [f"{counts[name]:,} {words}" for name, words in LOST.items() if counts.get(name)]
    report(f"{pairs:,} sentence pairs, of them {', '.join(lost) or 'none without links'}")
    if pairs and counts["unlinked"] == pairs:
        warnings.warn(f"none of the {pairs:,} sentence pairs has links: there are no rules", stacklevel=3)


def _make_lm(
    folder: Path, lm: PathLike | None, text: PathLike | None, corpus: Corpus, order: int, memory: str | int
) -> None:
    from treeglot.lm import compile, train
    from treeglot.lm import load as load_lm

    if lm is not None:
        load_lm(lm).write(folder / "lm.bin")
        return
    with scratch_folder(folder, "lm") as scratch:
        arpa = scratch / "lm.arpa"
        if text is not None:
            train(text, order, memory=memory, out=arpa)
        else:
            name = str(parses(corpus, "target"))
            train(target_sentences(corpus), order, memory=memory, out=arpa, name=name)
        compile(arpa, folder / "lm.bin")
