"""Split grammars in folders of text files, as the Berkeley parser exports them and Egret reads them.

level0.grammar  level0.lexicon  level0.stateInfo      the coarsest level
level1.grammar  …                                     the next, and so on
parser.toml                                           for grammars that Treeglot trained: how unknown words are classed
words.classes                                         if it was trained with classes of words: lines WORD CLASS
also/1  also/2  …                                     folders of further grammars, which parse together with it
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from treeglot._core import SignatureKind, SplitGrammar
from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike, read_chunks, write_binary
from treeglot.base.options import Options, load_options, option
from treeglot.lm.classes import WordClasses

FILES = ("stateInfo", "grammar", "lexicon")
MOST_SIZE = 2**63 - 1
ALSO = "also"
CLASSES = "words.classes"
COMPRESSED = ("", ".xz", ".gz", ".zst")


@dataclass(frozen=True)
class ParserFile(Options):
    """The content of `parser.toml`: how unknown words are classified, and how the grammar was trained."""

    signature: Literal["english", "german", "chinese"] = option("english", "how unknown words are put into classes")
    horizontal: int = option(0, "sisters that parts of rules remember", least=0)
    vertical: int = option(1, "labels upwards that a label remembers, itself included", least=1)
    steps: bool = option(
        False, "unary rules are single steps; otherwise a rule of a label by itself says that they are sums over chains"
    )
    levels: int = option(0, "levels that are complete; 0: as many as there are files", least=0)
    classes: int = option(0, "words in words.classes; 0: there is no such file", least=0)
    sizes: tuple[int, ...] = option(
        (), "bytes of each level's stateInfo, grammar and lexicon, uncompressed", least=0, most=MOST_SIZE
    )


def load_grammar(directory: PathLike, levels: int | None = None) -> SplitGrammar:
    """Load the grammar in a folder. Without `levels`, load all its levels, and otherwise only the coarsest ones.

    The files can be compressed. A truncated file, or one that does not fit the others, raises `FormatError`.
    """
    folder = Path(directory)
    settings = read_settings(folder)
    wanted = levels if levels is not None else settings.levels or None
    found: list[tuple[tuple[str, bytes], tuple[str, bytes], tuple[str, bytes]]] = []
    while wanted is None or len(found) < wanted:
        paths = [_find(folder, f"level{len(found)}.{name}") for name in FILES]
        # A later level says that this one is missing: without it, a coarser grammar would be used unasked.
        if wanted is None and found and not _more_levels(folder, len(found)):
            break
        for name, path in zip(FILES, paths, strict=True):
            if path is None:
                raise FormatError(os.fspath(folder), 0, f"is not a grammar: it has no level{len(found)}.{name}")
        stored = [(os.fspath(path), b"".join(read_chunks(path))) for path in paths if path is not None]
        for (name, content), size in zip(stored, settings.sizes[len(FILES) * len(found) :], strict=False):
            if len(content) != size:
                cut = "; is it cut short?" if len(content) < size else ""
                raise FormatError(name, 0, f"has {len(content):,} bytes; expected {size:,}, as parser.toml says{cut}")
        found.append((stored[0], stored[1], stored[2]))
    classes = _read_classes(folder, settings.classes)
    return SplitGrammar.read(
        found, SignatureKind[settings.signature], settings.steps, classes.core if classes else None
    )


def _read_classes(folder: Path, words: int) -> WordClasses | None:
    if not words:
        return None
    path = _find(folder, CLASSES)
    if path is None:
        raise FormatError(os.fspath(folder), 0, f"has no {CLASSES}; parser.toml says that it has {words:,} words")
    found = WordClasses.read(path)
    if len(found.words) != words:
        raise FormatError(
            os.fspath(path), 0, f"has {len(found.words):,} words; expected {words:,}, as parser.toml says"
        )
    return found


def joined_folders(directory: PathLike) -> list[Path]:
    """Return the folders of all grammars in a folder: itself, and those that `copy_grammars` added."""
    folder = Path(directory)
    found = [path for path in (folder / ALSO).glob("*") if path.is_dir()]
    for path in found:
        if not path.name.isdecimal():
            raise FormatError(os.fspath(path), 0, f"is a folder in {ALSO!r}; expected numbers as the names of grammars")
    return [folder, *sorted(found, key=lambda path: int(path.name))]


def copy_grammars(folders: Sequence[Path], directory: PathLike) -> None:
    """Copy several grammars into one new folder.

    The files of the first are at the top, the others in numbered folders.
    """
    place = Path(directory)
    for number, folder in enumerate(folders):
        own = place / ALSO / str(number) if number else place
        own.mkdir(parents=True)
        for path in sorted(folder.iterdir()):
            if path.is_file():
                shutil.copyfile(path, own / path.name)


def write_level(directory: PathLike, grammar: SplitGrammar, level: int) -> tuple[int, ...]:
    """Write the three files of one level, and return their sizes."""
    texts = grammar.texts(level)
    for name, text in zip(FILES, texts, strict=True):
        with write_binary(Path(directory) / f"level{level}.{name}") as stream:
            stream.write(text)
    return tuple(len(text) for text in texts)


def read_settings(folder: Path) -> ParserFile:
    """Return the settings in `parser.toml`, or the defaults."""
    path = folder / "parser.toml"
    if not path.is_file():
        return ParserFile()
    settings = load_options(ParserFile, path)
    last = path.read_bytes().splitlines(keepends=True)[-1:]
    if not last or not last[0].startswith(b"sizes = ") or not last[0].endswith(b"\n"):
        raise FormatError(os.fspath(path), 0, "does not end with a line of sizes; is it cut short?")
    return settings


def write_settings(folder: Path, settings: ParserFile) -> None:
    """Write the settings of a grammar to `parser.toml`."""
    with write_binary(folder / "parser.toml") as stream:
        classes = f"classes = {settings.classes}\n" if settings.classes else ""
        stream.write(
            f'signature = "{settings.signature}"\nhorizontal = {settings.horizontal}\nvertical = {settings.vertical}\n'
            f"steps = {str(settings.steps).lower()}\nlevels = {settings.levels}\n{classes}"
            f"sizes = {list(settings.sizes)}\n".encode()
        )


def _more_levels(folder: Path, first: int) -> bool:
    """Return whether a folder has files of this level or of a finer one."""
    names = (path.name.partition(".")[0].removeprefix("level") for path in folder.glob("level*.*"))
    return any(name.isdecimal() and int(name) >= first for name in names)


def _find(folder: Path, name: str) -> Path | None:
    return next((path for suffix in COMPRESSED if (path := folder / f"{name}{suffix}").is_file()), None)
