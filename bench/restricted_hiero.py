"""Hiero with rules on parts of dependency trees alone: why is it above dependency-to-string models?

python bench/restricted_hiero.py recipes/zh-en.toml --data DATA/zh-en --work DIR [--tune] [--json FILE]
python bench/restricted_hiero.py recipes/zh-en.toml --data DATA/zh-en --work DIR --run FINISHED [--tune]

First `treeglot run` trains and tunes hiero, dep2str and dep2str-aug in DIR/run. With --run, the folder of a finished
run gives them. Then Hiero translates the test set with rules on fewer spans:

structures  subtrees, fixed and floating structures
phrases     subtrees, and structures for rules without variables
subtrees    subtrees

Spans of one word and glue are always allowed. The weights are those of the unrestricted Hiero by seed. With --tune,
each is tuned for itself with the recipe's tuner. A run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from parser_quality import dependencies, over_text
from record import add_option, column, record

from treeglot._core import StructureMatcher, TreeSpans
from treeglot.base.files import read_lines, write_binary
from treeglot.cli import main as treeglot
from treeglot.decode import Translator
from treeglot.evaluate import Bleu
from treeglot.evaluate.means import score_tunings
from treeglot.evaluate.report import ReportOptions
from treeglot.experiment import load_recipe
from treeglot.models import load
from treeglot.models.kinds import find_kind
from treeglot.syntax import Dependency
from treeglot.syntax.formats import read_text, read_trees
from treeglot.tune import METHODS, tune_weights
from treeglot.tune.decoder import DecoderTranslator

HIERO, OTHERS = "hiero", ("dep2str", "dep2str-aug")
SHOWN = {
    TreeSpans.structures: "subtrees, fixed and floating structures",
    TreeSpans.phrases: "subtrees; structures for phrases without variables",
    TreeSpans.subtrees: "subtrees",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--run", type=Path, help="the folder of a finished run of the recipe")
    parser.add_argument("--tune", action="store_true", help="tune each restricted Hiero for itself")
    parser.add_argument("--threads", type=int, default=1)
    add_option(parser)
    arguments = parser.parse_args()
    finished = arguments.run or arguments.work / "run"
    if arguments.run is None:
        command = ["run", str(arguments.recipe), "--data", str(arguments.data), "--work", str(finished)]
        systems = ",".join((HIERO, *OTHERS))
        if code := treeglot([*command, "--systems", systems, "--threads", str(arguments.threads)]):
            return code
    recipe = load_recipe(arguments.recipe, arguments.data)
    seeds = recipe.seeds or (recipe.tune.seed,)
    (test,) = recipe.test
    cards = {name: json.loads((finished / "cards" / f"{name}.json").read_text()) for name in (HIERO, *OTHERS)}
    outputs = {}
    for name, card in cards.items():
        files = [finished / one["file"] for one in card["scores"][test]["outputs"]]
        outputs[name] = [read_lines(path) for path in files]
    if {len(found) for found in outputs.values()} != {len(seeds)}:
        sys.exit(f"{finished}: systems have {sorted(map(len, outputs.values()))} outputs; expected {len(seeds)} each")
    tested = read_sources(recipe.test[test])
    for spans in SHOWN:
        translator = restricted(finished / "models" / HIERO, spans)
        outputs[spans.name] = []
        for place, seed in enumerate(seeds):
            weights = cards[HIERO]["weights"][place]["values"]
            if arguments.tune:
                weights = tuned(
                    translator, recipe, place, arguments.work / f"tune-{spans.name}-{seed}", arguments.threads
                )
            path = arguments.work / f"{spans.name}-{seed}-{digest_of(weights)}.txt"
            outputs[spans.name].append(translated(translator, weights, tested, path, arguments.threads))
    report(outputs, [read_lines(path) for path in recipe.test[test].references], recipe.lowercase, arguments)
    return 0


def read_sources(files: Any) -> list[Dependency]:
    """The dependency trees of a set, with the words of its text."""
    return list(over_text(dependencies(read_trees(files.source_trees)), read_text(files.source)))


def restricted(folder: Path, spans: TreeSpans) -> Translator:
    """The translator of a model of strings, with rules on some spans alone."""
    whole = load(folder).translator
    return Translator(
        whole.table, whole.weights, whole.lm, whole.options, lambda f, search: StructureMatcher(f, search, spans)
    )


def tuned(translator: Translator, recipe: Any, place: int, folder: Path, threads: int) -> Mapping[str, float]:
    """Weights by the recipe's tuner, from the kind's own."""
    system = next(one for one in recipe.system if one.name == HIERO)
    settings = recipe.tuner(system, place)
    references = [read_lines(path) for path in recipe.dev.references]
    method = METHODS.make(settings.method, settings.options)
    found = tune_weights(
        DecoderTranslator(translator, folder.name, threads=threads),
        read_sources(recipe.dev),
        references,
        method,
        find_kind(HIERO).weights,
        folder,
        metric=Bleu(lowercase=recipe.lowercase),
        options=settings,
        threads=threads,
        report=lambda entry: print(folder.name, entry.get("iteration"), f"{entry['score']:.2f}", flush=True),
    )
    return found.weights


def translated(
    translator: Translator, weights: Mapping[str, float], trees: list[Dependency], path: Path, threads: int
) -> list[str]:
    """The translations of trees, which a file keeps."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        found = translator.with_weights(weights).translate_batch(trees, threads=threads)
        with write_binary(path) as stream:
            stream.write("".join(f"{one.text}\n" for one in found).encode())
    return read_lines(path)


def digest_of(weights: Mapping[str, float]) -> str:
    """A short digest, so that translations with other weights have another file."""
    return blake2b(json.dumps(weights, sort_keys=True).encode(), digest_size=6).hexdigest()


def report(
    outputs: Mapping[str, list[list[str]]], references: list[list[str]], lowercase: bool, arguments: argparse.Namespace
) -> None:
    """Print and record BLEU by seed, and the differences from the unrestricted Hiero."""
    found = score_tunings(
        outputs, references, baseline=HIERO, metrics=["bleu"], options=ReportOptions(lowercase=lowercase)
    )
    by_seed = "BLEU on test, by seed"
    columns = [column("rules may span"), column("model"), column(by_seed, 2), column("mean", 2) | {"mean_of": by_seed}]
    columns += [column("against Hiero, 95 %", 2, signed=True), column("p, two-sided", 3)]
    named = {HIERO: ("anything", "Hiero")} | {spans.name: (shown, "Hiero") for spans, shown in SHOWN.items()}
    named |= {"dep2str": ("subtrees", "`dep2str`")}
    named |= {"dep2str-aug": (SHOWN[TreeSpans.structures], "`dep2str-aug`, with hierarchical phrases")}
    rows = []
    for name, shown in named.items():
        (bleu,) = found[name]
        against = bleu.against
        interval = (
            {"mean": against.difference, "low": against.interval.low, "high": against.interval.high}
            if against
            else None
        )
        rows.append([*shown, list(bleu.scores), None, interval, against.p if against else None])
        print(*rows[-1], sep="\t")
    record(arguments.json, columns, rows)


if __name__ == "__main__":
    sys.exit(main())
