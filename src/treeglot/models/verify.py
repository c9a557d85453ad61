"""Checks a model by opening every file of its folder in full."""

from __future__ import annotations

from pathlib import Path

from treeglot.align import Aligner
from treeglot.base.files import PathLike
from treeglot.models.artefacts import ALIGNER
from treeglot.models.model import load
from treeglot.rules.provenance import PROVENANCE


def verify_model(folder: PathLike) -> list[str]:
    """Open all files of a model, and return their names. A damaged file raises `FormatError`.

    Binary files are verified completely. Text files are read and validated. Translation opens parsers, the aligner and
    the provenance only on demand; this function opens them, too.
    """
    place = Path(folder)
    model = load(place, wait=True)
    found = ["model.toml", *(name for _, name in model.file.files() if name)]
    for parser in (model.reader.open_parser, model.reader.open_target_parser):
        if parser is not None:
            parser()
    if (place / ALIGNER).is_dir():
        Aligner.load(place / ALIGNER)
        found.append(ALIGNER)
    if model.provenance is not None:
        found.append(PROVENANCE)
    return found
