"""BLEU of dependency trees to strings by the quality of the trees.

python bench/parser_quality.py --data DATA/zh-en --grammar chn_grammar --gold zh_pud-ud-test.conllu --work DIR
    [--characters TSCharacters.txt] [--sources level-1,level-0,random,right,left]
    [--systems dep2str,dep2str-aug] [--json FILE]

The sources of trees are the data's own (level-1), the coarsest level of the grammar (level-0), trees with random heads,
and chains. In the chain `right` each word is below the one before it, in `left` below the one after it. Random trees
and chains keep the tags of the data's trees. All projective trees of a sentence are equally likely as random ones.

Each source has a recipe, and `treeglot run` trains, tunes and tests both models with it. All share links, the
language model and the tuner. A run that was ended goes on where it was. --gold gives the quality: the share of gold
subtrees of two words or more that no subtree of a source crosses, and the share that it has.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gold_spans import Shares, load_characters, read_gold, shares, subtree_spans
from record import add_option, column, record

from treeglot.base.files import read_lines
from treeglot.cli import main as treeglot
from treeglot.evaluate.means import score_tunings
from treeglot.evaluate.report import ReportOptions
from treeglot.parse import ParsingOptions, load_parser
from treeglot.syntax import Dependency, heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_text, read_trees

PARTS = ("train", "dev", "test")
SYSTEMS = ("dep2str", "dep2str-aug")
HEADS = "chinese-particles"  # the default of both kinds
BASELINE = "level-1"
SOURCES = (BASELINE, "level-0", "random", "right", "left")
RECIPE = """\
title = "{title}"
seeds = [{seeds}]
lowercase = true
baseline = "{systems[0]}"

[corpus]
source = "train.zh"
target = "train.lc.en"
{train}

[dev]
source = "dev.zh"
{dev}
references = ["dev.lc.en"]

[test.test]
source = "test.zh"
{test}
references = ["test.lc.en"]

[tune]
method = "mira"
options = {{ held_out_share = 0.0, epochs = 8 }}
iterations = 5
patience = 0
"""
SYSTEM = """
[[system]]
name = "{name}"
kind = "{name}"
options = {{ lm_order = 5, score = {{ smoothing = "kneser-ney" }}, compile = {{ indicators = ["count_bin"], \
shapes = true, word_pairs = 50 }} }}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of zh-en")
    parser.add_argument("--grammar", type=Path, required=True, help="the grammar that the data's trees are from")
    parser.add_argument("--gold", type=Path, required=True, help="gold dependencies, for the quality of sources")
    parser.add_argument("--characters", type=Path, help="OpenCC's table, if the gold words are traditional Chinese")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sources", default=",".join(SOURCES), help="by commas")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="by commas")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--seed", type=int, default=1, help="of random trees")
    parser.add_argument("--threads", type=int, default=1)
    add_option(parser)
    arguments = parser.parse_args()
    sources = arguments.sources.split(",")
    if unknown := set(sources) - set(SOURCES):
        parser.error(f"unknown source {min(unknown)!r}; expected some of {', '.join(SOURCES)}")
    systems = arguments.systems.split(",")
    if unknown := set(systems) - set(SYSTEMS):
        parser.error(f"unknown system {min(unknown)!r}; expected some of {', '.join(SYSTEMS)}")
    if sources[0] != BASELINE:
        parser.error(f"the first source is {sources[0]!r}; expected {BASELINE}, which the others are compared with")
    outputs: dict[str, dict[str, list[list[str]]]] = {}
    for source in sources:
        for part in PARTS:
            make_trees(arguments, source, part)
        if code := run(arguments, source):
            return code
        outputs[source] = {name: read_outputs(arguments.work, name) for name in systems}
    quality = qualities(arguments, sources)
    references = [list(lines(arguments.data / "test.lc.en"))]
    options = ReportOptions(lowercase=True)
    columns = [column("trees"), column("gold subtrees not crossed, %", 1), column("gold subtrees found, %", 1)]
    found: dict[str, Any] = {}
    for name in systems:
        columns += [column(f"`{name}`, by seed", 2), column("mean", 2) | {"mean_of": f"`{name}`, by seed"}]
        columns += [column(f"against {BASELINE}, 95 %", 2, signed=True)]
        several = {source: outputs[source][name] for source in sources}
        found[name] = score_tunings(several, references, baseline=BASELINE, options=options, metrics=["bleu"])
    rows = []
    for source in sources:
        row = [source, 100 * quality[source].uncrossed, 100 * quality[source].found]
        for name in systems:
            (bleu,) = found[name][source]
            row += [list(bleu.scores), None, None]
            if bleu.against is not None:
                interval = bleu.against.interval
                row[-1] = {"mean": bleu.against.difference, "low": interval.low, "high": interval.high}
        rows.append(row)
        print(*row, sep="\t")
    record(arguments.json, columns, rows)
    return 0


def lines(path: Path) -> Iterator[str]:
    return (" ".join(words) for words in read_text(path))


def make_trees(arguments: argparse.Namespace, source: str, part: str) -> None:
    """Write the trees of a part of the data, unless they are there."""
    path = trees_of(arguments, source, part)
    if source == BASELINE or path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    text = list(read_text(arguments.data / f"{part}.zh"))
    own = over_text(dependencies(read_trees(arguments.data / f"{part}.zh.tree.xz")), text)
    if source == "level-0":
        found = over_text(dependencies(parsed(arguments.grammar, 0, text)), text)
    else:
        found = restructured(source, own, random.Random(f"{arguments.seed} {part}"))
    write(path, found, tags="xpos")


def trees_of(arguments: argparse.Namespace, source: str, part: str) -> Path:
    """The file of trees. Random trees of another seed have another file."""
    name = f"{source}-{arguments.seed}" if source == "random" else source
    return Path(arguments.work / "trees" / f"{part}.{name}.conllu")


def parsed(grammar: Path, level: int, text: list[list[str]]) -> list[Any]:
    parser = load_parser(grammar, ParsingOptions(), level)
    trees = [one.value for one in parser.trees(text)]
    print(parser.summary(), file=sys.stderr)
    return trees


def dependencies(trees: Iterable[Any]) -> list[Dependency]:
    return to_dependencies(list(trees), heads.load(HEADS))


def over_text(trees: Iterable[Dependency], text: Iterable[list[str]]) -> Iterator[Dependency]:
    """The same trees with the words of the text; a failed parse has words, but no heads."""
    for tree, words in zip(trees, text, strict=True):
        if len(tree):
            yield Dependency(words, tree.heads.tolist(), tree.tags)
        else:
            yield Dependency(words, [Dependency.NO_HEAD] * len(words), ["X"] * len(words))


def restructured(source: str, trees: Iterable[Dependency], generator: random.Random) -> Iterator[Dependency]:
    """Trees with other heads; those without heads stay."""
    for tree in trees:
        if has_heads(tree):
            yield Dependency(tree.words, other_heads(source, len(tree), generator), tree.tags)
        else:
            yield tree


def has_heads(tree: Dependency) -> bool:
    """Whether it is a tree; a failed parse has words without heads."""
    return Dependency.NO_HEAD not in tree.heads.tolist()


def other_heads(source: str, size: int, generator: random.Random) -> list[int]:
    """The heads of a chain or of a random tree."""
    if source == "right":
        return list(range(-1, size - 1))
    if source == "left":
        return [*range(1, size), Dependency.ROOT]
    return random_heads(size, generator)


def random_heads(size: int, generator: random.Random) -> list[int]:
    """The heads of a projective tree; all are equally likely."""
    made = [Dependency.ROOT] * size
    open_spans = [(0, size, Dependency.ROOT, True)]
    while open_spans:
        begin, end, head, is_tree = open_spans.pop()
        words = end - begin
        if words == 0:
            continue
        if is_tree:  # its root has a row of trees on each side
            weights = [rows_of_trees(k) * rows_of_trees(words - 1 - k) for k in range(words)]
            root = begin + generator.choices(range(words), weights)[0]
            made[root] = head
            open_spans += [(begin, root, root, False), (root + 1, end, root, False)]
        else:
            weights = [trees(k) * rows_of_trees(words - k) for k in range(1, words + 1)]
            middle = begin + generator.choices(range(1, words + 1), weights)[0]
            open_spans += [(begin, middle, head, True), (middle, end, head, False)]
    return made


@cache
def trees(words: int) -> int:
    """How many projective trees so many words have."""
    return sum(rows_of_trees(k) * rows_of_trees(words - 1 - k) for k in range(words))


@cache
def rows_of_trees(words: int) -> int:
    """How many rows of such trees, side by side, cover so many words."""
    return sum(trees(k) * rows_of_trees(words - k) for k in range(1, words + 1)) if words else 1


def run(arguments: argparse.Namespace, source: str) -> int:
    """Train, tune and test the systems with one source of trees."""
    files = {}
    for part in PARTS:
        path = trees_of(arguments, source, part).resolve()
        own = f'source_trees = "{part}.zh.tree.xz"'
        files[part] = own if source == BASELINE else f'source_dependencies = "{path}"'
    systems = arguments.systems.split(",")
    seeds = ", ".join(arguments.seeds.split(","))
    text = RECIPE.format(title=f"Trees: {source}", seeds=seeds, systems=systems, **files)
    recipe = arguments.work / f"{source}.toml"
    arguments.work.mkdir(parents=True, exist_ok=True)
    recipe.write_text(text + "".join(SYSTEM.format(name=name) for name in systems))
    command = ["run", str(recipe), "--data", str(arguments.data), "--work", str(arguments.work / "steps")]
    return treeglot([*command, "--threads", str(arguments.threads)])


def read_outputs(work: Path, name: str) -> list[list[str]]:
    """What a system of the last run translated the test set to, by seed."""
    card = json.loads((work / "steps" / "cards" / f"{name}.json").read_text())
    files = [work / "steps" / one["file"] for one in card["scores"]["test"]["outputs"]]
    return [read_lines(path) for path in files]


def qualities(arguments: argparse.Namespace, sources: list[str]) -> dict[str, Shares]:
    """How near the subtrees of each source are to gold ones."""
    gold, text = read_gold(arguments.gold, load_characters(arguments.characters))
    by_level = {level: parsed(arguments.grammar, level, text) for level in (0, 1)}
    out = {}
    for source in sources:
        trees = over_text(dependencies(by_level[0 if source == "level-0" else 1]), text)
        if not source.startswith("level"):
            trees = restructured(source, trees, random.Random(f"{arguments.seed} gold"))
        out[source] = shares(gold, (subtree_spans(tree) if has_heads(tree) else None for tree in trees))
    return out


if __name__ == "__main__":
    sys.exit(main())
