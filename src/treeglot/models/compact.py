"""Merges corrections into a model's tables (docs/corrections.md)."""

from __future__ import annotations

import shutil
from pathlib import Path

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, read_lines, scratch_folder, write_binary
from treeglot.base.options import load_options
from treeglot.models.folder import NEXT, ModelFile, move_in
from treeglot.models.kinds import find_kind
from treeglot.models.learn import training_options
from treeglot.rules.corrections import CORRECTIONS, Corrections, changing
from treeglot.rules.merge import Merged, merge_corrections
from treeglot.rules.provenance import PROVENANCE
from treeglot.rules.table import compile_table

RULES, TABLE = "rules.parquet", "rules.table"


def compact(directory: PathLike, *, drop_provenance: bool = False) -> Merged:
    """Merge the corrections of a model into its rule table and its compiled table, and replace both at once.

    Corrections are removed from their file after the new tables are in place. A killed run loses none, because applying
    a correction twice changes nothing. Other processes wait before they change the corrections. Provenance belongs to
    the old table, so a model with provenance is refused unless `drop_provenance` is set.
    """
    folder = Path(directory)
    move_in(folder)
    file = load_options(ModelFile, folder / "model.toml")
    file.need_table(folder, "corrections")
    if file.rules != TABLE or not (folder / RULES).is_file():
        raise UsageError(f"{folder} has no {RULES} and {TABLE}; expected a model as training leaves it")
    if (folder / PROVENANCE).exists() and not drop_provenance:
        raise UsageError(f"{folder} has {PROVENANCE}, which new tables do not fit; expected --drop-provenance")
    path = folder / CORRECTIONS
    with changing(path):
        given = Corrections.read(path) if path.is_file() else Corrections(())
        if not len(given):
            return Merged(0, ())
        options = training_options(folder, find_kind(file.kind))
        with scratch_folder(folder, "compact") as scratch:
            new = scratch / "new"
            new.mkdir()
            merged = merge_corrections(folder / RULES, given, new / RULES, options.compile.max_scope)
            compile_table(new / RULES, new / TABLE, options.compile)
            shutil.copyfile(folder / "model.toml", new / "model.toml")  # comes last: no tables mix
            (folder / PROVENANCE).unlink(missing_ok=True)
            new.rename(folder / NEXT)
        move_in(folder, locked=True)
        left = set(map(id, merged.left))
        gone = {line for line, each in zip(given.lines, given, strict=True) if id(each) not in left}
        kept = [line for number, line in enumerate(read_lines(path), start=1) if number not in gone]
        with write_binary(path) as stream:
            stream.write("".join(f"{line}\n" for line in kept).encode())
    return merged
