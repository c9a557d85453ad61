"""Trains models on the sample treebank, for users who have no model yet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import treeglot
from treeglot import sample
from treeglot.align import Aligner
from treeglot.base.files import scratch_folder
from treeglot.corpus import Corpus
from treeglot.models import load, train
from treeglot.models.confidence import fit_confidence
from treeglot.models.kinds import find_kind
from treeglot.parse import ParserTraining, treebank
from treeglot.parse.train import train_in
from treeglot.syntax import Tree, write
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.languages import find_language
from treeglot.text.side import lowered, untokenise

KINDS = ("c2d", "hiero")
PAIRS = 1000
PARSER = ParserTraining(cycles=1, split_iterations=5, merge_iterations=3, smooth_iterations=2, signature="chinese")


def demo_folder() -> Path:
    """Return the folder that caches the demo models of this version of Treeglot."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "treeglot" / f"demo-{treeglot.__version__}"


def demo_models(folder: Path, threads: int = 1) -> list[str]:
    """Return the folders of the demo models. The first call trains them, which takes seconds."""
    places = [folder / f"zh-en-{kind}" for kind in KINDS]
    if not all((place / "model.toml").is_file() for place in places):
        folder.mkdir(parents=True, exist_ok=True)
        with scratch_folder(folder, "demo") as scratch:
            for made, place in zip(train_sample(scratch, KINDS, PAIRS, PARSER, threads), places, strict=True):
                fit_confidence(load(made), *dev_text(), threads)
                if not place.exists():
                    made.rename(place)
    return [str(place) for place in places]


def dev_text() -> tuple[list[str], list[str]]:
    """Return sentences with translations that the demo models do not learn from."""
    return raw_text(1000, "dev")


def raw_text(pairs: int, part: str = "train") -> tuple[list[str], list[str]]:
    """Return the sample's Chinese and English sentences as raw text."""
    chosen = sample.split(sample.read_pairs(pairs))[part]
    chinese = untokenise([pair.source_tree.words for pair in chosen], find_language("zh"))
    english = untokenise([pair.target_tree.words for pair in chosen], find_language("en"))
    return [each.text for each in chinese], [each.text[0].upper() + each.text[1:] for each in english]


def train_sample(
    folder: Path,
    kinds: Sequence[str],
    pairs: int,
    parser: ParserTraining = PARSER,
    threads: int = 1,
    provenance: bool = True,
) -> list[Path]:
    """Train models that translate Chinese text on the first pairs of the sample. Each gets a folder in `folder`."""
    chosen = sample.split(sample.read_pairs(pairs))["train"]
    source = [pair.source_tree.words for pair in chosen]
    target = [pair.target_tree.words for pair in chosen]
    chinese, english = raw_text(pairs)
    segmented = TextSide.learn(TextSettings("zh", "learnt"), chinese, [" ".join(words) for words in source])
    text = TextPipeline(segmented, TextSide.learn(TextSettings("en"), english))
    files: dict[str, tuple[str, Iterable[Any]]] = {
        "source": ("zh.txt", source),
        "source_trees": ("zh.tree", [pair.source_tree for pair in chosen]),
        "target": ("en.txt", lowered(target)),
        "target_trees": ("en.tree", [_lower(pair.target_tree) for pair in chosen]),
        "alignments": ("links.align", [pair.alignment for pair in chosen]),
    }
    for name, values in files.values():
        write(folder / name, values)
    if any(find_kind(kind).parses for kind in kinds):
        bank = treebank([pair.source_tree for pair in chosen], parser)[0]
        train_in(folder / "grammar", bank, replace(parser, threads=threads))
    if any(
        map(_needs_target_trees, kinds)
    ):  # with a parser for its output, such a model can learn from better translations
        english_parser = replace(parser, signature="english", threads=threads)
        bank = treebank([_lower(pair.target_tree) for pair in chosen], english_parser)[0]
        train_in(folder / "target-grammar", bank, english_parser)
    aligner = Aligner.train(zip(source, lowered(target), strict=True), "hmm", threads=threads)  # in no time
    aligner.save(folder / "aligner")
    for kind in kinds:
        declared = find_kind(kind)
        wanted = {choice for need in declared.files for choice in need.split("|")} | {"alignments", "target"}
        given: dict[str, Any] = {name: folder / file for name, (file, _) in files.items() if name in wanted}
        corpus = Corpus(**given)
        grammar = folder / "grammar" if declared.parses else ""
        train(
            kind,
            corpus,
            folder / kind,
            declared.options(lm_order=3, provenance=provenance),
            text=text,
            parser=grammar,
            target_parser=folder / "target-grammar" if _needs_target_trees(kind) else "",
            aligner=folder / "aligner",
            threads=threads,
        )
    return [folder / kind for kind in kinds]


def _needs_target_trees(kind: str) -> bool:
    return any("target_trees" in need for need in find_kind(kind).files)


def _lower(tree: Tree) -> Tree:
    """Return a tree whose words are in lower case."""

    def lower(node: Any) -> Any:
        return node.lower() if isinstance(node, str) else (node[0], *map(lower, node[1:]))

    return Tree.from_nested(lower(tree.to_nested()))
