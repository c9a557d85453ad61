"""From aligned text to a model folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from treeglot.base.files import PathLike
from treeglot.base.sizes import parse_size
from treeglot.models import hiero
from treeglot.models.model import Model, load, write_model


def train_hiero(
    source: PathLike,
    target: PathLike,
    alignments: PathLike,
    out: PathLike,
    options: hiero.HieroModelOptions | None = None,
    *,
    lm: PathLike | None = None,
    lm_text: PathLike | None = None,
    threads: int = 1,
    memory: str | int = "2G",
    report: Callable[[str], None] = lambda line: None,
) -> Model:
    """Train a Hiero model into the folder `out`.

    The language model is `lm` (ARPA or compiled) if given; otherwise one is trained on `lm_text` or, without it, on the
    target side. `report` is told what is done, line by line. Beside the model, `rules.parquet` holds the scored rules
    for inspection.
    """
    from treeglot.rules import bitext, compile_table, extract, score
    from treeglot.syntax import read_parallel

    options = options or hiero.HieroModelOptions()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    bytes_allowed = parse_size(memory)

    pairs = bitext(read_parallel((source, "text"), (target, "text"), (alignments, "pharaoh")))
    report(f"{len(pairs):,} sentence pairs")
    with tempfile.TemporaryDirectory(prefix=".extract.", dir=folder) as scratch:
        extraction = extract(pairs, scratch, options.extract, threads=threads, memory=bytes_allowed // 2)
        report("rules extracted and counted")
        rules = score(extraction, folder / "rules.parquet", options.score, threads=threads, memory=bytes_allowed)
    report(f"{rules:,} rules scored")
    compile_table(folder / "rules.parquet", folder / "rules.table")
    report("rule table compiled")
    _make_lm(folder, target, lm, lm_text, options.lm_order, memory)
    report("language model compiled")
    write_model(folder, hiero.KIND, hiero.WEIGHTS, options.search)
    return load(folder)


def _make_lm(
    folder: Path, target: PathLike, lm: PathLike | None, lm_text: PathLike | None, order: int, memory: str | int
) -> None:
    from treeglot.lm import compile, train

    if lm is not None:
        compile(lm, folder / "lm.bin")
        return
    with tempfile.TemporaryDirectory(prefix=".lm.", dir=folder) as scratch:
        arpa = Path(scratch) / "lm.arpa"
        train(lm_text if lm_text is not None else target, order, memory=memory, out=arpa)
        compile(arpa, folder / "lm.bin")
