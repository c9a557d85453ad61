"""BLEU of models whose parses are by one grammar, or by several grammars together.

python bench/parses_together.py --data DATA/zh-en --work DIR [--systems c2s,c2d,dep2str-aug] [--json FILE]
    chn_grammar:eng_grammar chn_grammar,zh-self-1:eng_grammar chn_grammar,zh-self-1:eng_grammar,ptb-1

Each argument is SOURCE:TARGET or SOURCE:TARGET:PRUNE. Each side has a grammar, or several with commas between them, as
in `treeglot parse --also`. PRUNE is the margin of the source's forests. Several grammars first prune their own forests
with it, so it also changes their best trees. The source side of all parts is parsed, and the target side of training.
Each system is compared with its own models of the first argument's parses. A system without target parses has no second
row for parses that differ on the target side alone.

All share the text, aligner, language model, options and tuner of recipes/zh-en.toml. As there, the links of models of
forests respect the constituents of their parses. A run that was ended goes on where it was. The files of --work are
named by the grammars' own folders, so give other grammars of the same name another --work.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from record import add_option, column, record

from treeglot.base.files import read_lines
from treeglot.cli import main as treeglot
from treeglot.evaluate.means import score_tunings
from treeglot.evaluate.report import ReportOptions
from treeglot.parse import ParsingOptions, load_parser
from treeglot.syntax import write
from treeglot.syntax.formats import read_text

RECIPE = """\
title = "Parses by {source} and {target}"
seeds = [{seeds}]
lowercase = true

[corpus]
source = "train.zh"
target = "train.lc.en"
target_trees = "{trees}"

[parser]
grammar = "{grammar}"
prune = {prune}

[dev]
source = "dev.zh"
references = ["dev.lc.en"]

[test.test]
source = "test.zh"
references = ["test.lc.en"]

[tune]
method = "mira"
options = {{ held_out_share = 0.0, epochs = 8 }}
iterations = 5
patience = 0
"""
OPTIONS = 'compile = { indicators = ["count_bin"], shapes = true, word_pairs = 50 }'
SMOOTHED = f'lm_order = 5, score = {{ smoothing = "kneser-ney" }}, {OPTIONS}'
SYSTEMS = {"c2s": f"lm_order = 5, {OPTIONS}", "c2d": f"lm_order = 5, {OPTIONS}", "dep2str-aug": SMOOTHED}
WITH_TARGET = {"c2d"}  # systems that need parses of the target side
PRUNE = "10.0"  # the default
ORIGINAL_CASE = "train.en"  # what the target's parser sees: its grammar is of text in true case


class Parses(NamedTuple):
    """How text is parsed."""

    source: str  # grammars
    target: str
    prune: str  # of the source's forests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parses", nargs="+", type=read_parses, help="SOURCE:TARGET[:PRUNE], folders of grammars")
    parser.add_argument("--data", type=Path, required=True, help="the folder of zh-en")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="by commas")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--jobs", type=int, default=1, help="steps that run at once")
    parser.add_argument("--memory", default="2G", help="approximate memory to use, which jobs share")
    add_option(parser)
    given = parser.parse_args()
    systems = given.systems.split(",")
    if unknown := set(systems) - set(SYSTEMS):
        parser.error(f"unknown system {min(unknown)!r}; expected some of {', '.join(SYSTEMS)}")
    if twice := same_name(given.parses):
        parser.error(f"grammars of different folders are named {twice!r}; expected a name for each")
    outputs: dict[str, dict[Parses, list[list[str]]]] = {name: {} for name in systems}
    rules: dict[tuple[str, Parses], int] = {}
    for parses in given.parses:
        new = [name for name in systems if shown(name, parses) not in outputs[name]]
        if new and (code := run(given, parses, new)):
            return code
        for name in new:
            outputs[name][shown(name, parses)], rules[name, shown(name, parses)] = results(given.work, name)
    references = [list(map(" ".join, read_text(given.data / "test.lc.en")))]
    rows = [row for name in systems for row in rows_of(name, outputs[name], references, rules)]
    for row in rows:
        print(*row, sep="\t")
    scores = "BLEU, by seed"
    columns = [column("system"), column("Chinese parses by"), column("English parses by"), column("prune", 1)]
    columns += [column("rules"), column(scores, 2), column("mean", 2) | {"mean_of": scores}]
    columns += [
        column("against the first, 95 %", 2, signed=True),
        column("p, Holm", 3),
        column("sign test p, by seed", 3),
    ]
    record(given.json, columns, rows)
    return 0


def read_parses(text: str) -> Parses:
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not SOURCE:TARGET or SOURCE:TARGET:PRUNE")
    return Parses(*parts, *[PRUNE][len(parts) - 2 :])


def same_name(several: Sequence[Parses]) -> str | None:
    """A name that grammars of different folders share, if there is one. Files are named by it."""
    folders: dict[str, str] = {}
    for parses in several:
        for path in ",".join(parses[:2]).split(","):
            if folders.setdefault(label(path), path) != path:
                return label(path)
    return None


def shown(system: str, parses: Parses) -> Parses:
    """The parses that a system depends on."""
    target = parses.target if system in WITH_TARGET else ""
    return Parses(parses.source, target, parses.prune)


def run(given: argparse.Namespace, parses: Parses, systems: Sequence[str]) -> int:
    """Train, tune and test systems with the parses of some grammars."""
    source, target = label(parses.source), label(parses.target)
    made = given.work / "parses"
    made.mkdir(parents=True, exist_ok=True)
    trees = made / f"{target}.tree"
    if not trees.exists():
        parse(joined(made, parses.target), given.data / ORIGINAL_CASE, trees, given.threads)
    grammar = joined(made, parses.source)
    recipe = given.work / f"{source}-and-{target}-{parses.prune}.toml"
    files = {"grammar": grammar.resolve(), "trees": trees.resolve()}
    seeds = ", ".join(given.seeds.split(","))
    text = RECIPE.format(seeds=seeds, source=source, target=target, prune=parses.prune, **files)
    for name in systems:
        text += f'\n[[system]]\nname = "{name}"\nkind = "{name}"\noptions = {{ {SYSTEMS[name]} }}\n'
    recipe.write_text(text)
    command = ["run", str(recipe), "--data", str(given.data), "--work", str(given.work / "steps")]
    command += ["--threads", str(given.threads), "--jobs", str(given.jobs), "--memory", given.memory]
    return treeglot(command)


def label(grammars: str) -> str:
    """The names of grammars without their folders."""
    return "+".join(Path(one).name for one in grammars.split(","))


def joined(folder: Path, grammars: str) -> Path:
    """The folder of a grammar; of several, one that holds them all."""
    several = grammars.split(",")
    if len(several) == 1:
        return Path(grammars)
    path = folder / label(grammars)
    if not path.exists() and treeglot(["parser", "join", *several, "--out", str(path)]):
        raise SystemExit(f"the grammars {grammars} were not joined")
    return path


def parse(grammar: Path, text: Path, out: Path, threads: int) -> None:
    """Write the best trees of a text."""
    parser = load_parser(grammar, ParsingOptions(threads=threads))
    write(out, [one.value for one in parser.trees(list(read_text(text)))])
    print(f"{text}: {parser.summary()}")


def results(work: Path, system: str) -> tuple[list[list[str]], int]:
    """What a system of the last run translated the test set to, by seed, and how many rules it has."""
    steps = work / "steps"
    card = json.loads((steps / "cards" / f"{system}.json").read_text())
    report = json.loads((steps / "report.json").read_text())
    (rules,) = [one["rules"] for one in report["systems"] if one["name"] == system]
    return [read_lines(steps / one["file"]) for one in card["scores"]["test"]["outputs"]], rules


def rows_of(
    system: str,
    outputs: dict[Parses, list[list[str]]],
    references: list[list[str]],
    rules: dict[tuple[str, Parses], int],
) -> list[list[Any]]:
    """A row for the parses of each set of grammars. The first is what the others are compared with."""
    several = {" ".join(parses): lines for parses, lines in outputs.items()}
    options = ReportOptions(lowercase=True)
    found = score_tunings(several, references, baseline=next(iter(several)), metrics=["bleu"], options=options)
    rows: list[list[Any]] = []
    for parses, (bleu,) in zip(outputs, found.values(), strict=True):
        names = [label(grammars).replace("+", ", ") if grammars else None for grammars in parses[:2]]
        against: list[Any] = [None, None, None]
        if bleu.against is not None:
            interval = bleu.against.interval
            difference = {"mean": bleu.against.difference, "low": interval.low, "high": interval.high}
            against = [difference, bleu.adjusted_p, list(bleu.sign_tests)]
        number = rules[system, parses]
        rows.append([f"`{system}`", *names, float(parses.prune), number, list(bleu.scores), None, *against])
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
