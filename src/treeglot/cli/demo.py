"""`treeglot demo`: trains and compares all kinds of models on the sample treebank, and writes a report."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.files import read_lines
from treeglot.cli.output import Progress, say
from treeglot.cli.parameters import FOLDER
from treeglot.cli.screen import Colour, Page, Width, screen

if TYPE_CHECKING:
    from treeglot.experiment import Pipeline
    from treeglot.experiment.recipe import Recipe
    from treeglot.experiment.results import Report

FULL, QUICK = 3000, 1000  # sentence pairs
# Kinds of models by name; those of the t2t paper are tuned as it has it.
SYSTEMS = {
    "hiero": "mert",
    "t2t-exact": "mira",
    "t2t-fuzzy": "mira",
    "t2t-fuzzy-nested": "mira",
    "t2s": "mert",
    "c2s": "mert",
    "c2d": "mert",
    "dep2str": "mert",
    "dep2str-aug": "mert",
    "s2d": "mert",
}
LEFT_OUT = ("t2t-exact", "t2t-fuzzy-nested", "t2s")  # of the quick one
SENTENCES = 3  # shown with the outputs of all systems
SHOWN = "c2d"  # the system whose work is looked at

NEXT = """\

treeglot translate {model} TEXT      # Chinese text, from a file or - for standard input
treeglot tour                               # one sentence pair from all sides
treeglot sample --out sample                # the corpus as files
treeglot run recipe.toml                    # the same with a corpus of your own
treeglot --help                             # all commands, in the order of use
"""


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the results and the report."), FOLDER] = Path(
        "demo"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sentences, fewer models: within a minute.")] = False,
    threads: Annotated[int, typer.Option(help="Threads; 0: all cores. They do not change the result.")] = 0,
    width: Width = None,
    colour: Colour = None,
) -> None:
    """Train, tune and compare all kinds of models on a small corpus, and write a report.

    The corpus has Chinese and English sentences from a grammar, with realistic ambiguity. The same command continues an
    interrupted run.
    """
    import treeglot
    from treeglot.cli.board import watcher
    from treeglot.experiment import Pipeline, publish, steps_of
    from treeglot.experiment.models import publish_models

    threads = threads or os.cpu_count() or 1
    pairs = QUICK if quick else FULL
    corpus = out / f"corpus-{pairs}"
    recipe = _recipe(corpus, quick)
    pipeline = Pipeline(steps_of(recipe), out)
    with pipeline.locked():
        _write(corpus, pairs)
    show = Page(screen(width, colour))
    show.title(f"Treeglot {treeglot.__version__}: {pairs:,} sentence pairs, from text to translations")
    with watcher() as shown:
        done = pipeline.run(threads=threads, watcher=shown)
    models = publish_models(out, done, [system.name for system in recipe.system])
    report = publish(pipeline, done, threads)
    _show(show, pipeline, corpus, report)
    shown_model = next(path for path in models if path.name == SHOWN)
    _show_text(show, shown_model, corpus)
    show.heading("What to try next")
    print(show.screen.glyphs(NEXT.format(model=shown_model)), end="")
    say(f"the report: {report.page}")


def _write(folder: Path, pairs: int) -> None:
    """Write the files of the sample corpus, unless all of them exist."""
    from treeglot.sample import write_corpus

    if not (folder / "complete").is_file():
        with Progress("parsing sentence pairs", unit="pairs", total=pairs) as progress:
            shutil.rmtree(folder, ignore_errors=True)  # leftovers of a killed run
            folder.mkdir()
            write_corpus(folder, pairs)
            (folder / "complete").touch()
            progress.update(pairs)


def _recipe(corpus: Path, quick: bool) -> Recipe:
    """Return the demo's recipe: align the words, train a parser on the Chinese trees, and compare several kinds."""
    from treeglot.base.options import from_table
    from treeglot.experiment.recipe import Recipe

    def files(part: str) -> dict[str, Any]:
        return {"source": corpus / f"{part}.zh"}

    iterations = 3 if quick else 8
    tuning: dict[str, Any] = {"iterations": iterations, "kbest": 50, "patience": 0}
    methods = {"mert": tuning | {"options": {"restarts": 2, "directions": 4}}, "mira": tuning | {"method": "mira"}}
    names = [name for name in SYSTEMS if not (quick and name in LEFT_OUT)]
    return from_table(
        Recipe,
        {
            "title": "Treeglot's sample corpus",
            "text": {"languages": "zh-en", "tokenised": True},
            "corpus": files("train") | {"target": corpus / "train.en", "target_trees": corpus / "train.en.tree"},
            "dev": files("dev") | {"references": [corpus / "dev.en"]},
            "test": {"test": files("test") | {"references": [corpus / "test.en"]}},
            "align": {"method": "sampler"},
            "parser": {"trees": corpus / "train.zh.tree", "cycles": 1 if quick else 2},
            "lm": {"order": 4},
            "tune": methods["mert"],
            "system": [
                {"name": name, "kind": name, "options": {"search": {"pop_limit": 50}}, "tune": methods[SYSTEMS[name]]}
                for name in names
            ],
        },
    )


def _show(show: Page, pipeline: Pipeline, corpus: Path, report: Report) -> None:
    """Print a table of the systems, and their translations of a few sentences."""
    from treeglot.syntax.draw.bars import columns

    show.heading("Results on the test set")
    show.lines([*columns(report.table("test")).splitlines(), "", report.signature("test")])
    folders = {planned.step.name: planned.folder for planned in pipeline.plan()}
    names = [system["name"] for system in report.figures["systems"]]
    outputs = {name: read_lines(folders[f"translate {name} test"] / "output.jsonl") for name in names}
    references = read_lines(corpus / "test.en")
    show.heading("A few sentences")
    for number in range(min(SENTENCES, len(references))):
        entries = {name: json.loads(lines[number]) for name, lines in outputs.items()}
        source = next(iter(entries.values()))["source"]
        show.lines([source, f"reference: {references[number]}"] + [f"{n}: {e['text']}" for n, e in entries.items()])
    show.heading(f"How {SHOWN} made the first of them")
    first = json.loads(outputs[SHOWN][0])
    show.lines(_derivation(first["derivation"]))


def _show_text(show: Page, folder: Path, corpus: Path) -> None:
    """Translate raw text and print the result. The model tokenises and parses the text by itself."""
    from treeglot.models import load

    model = load(folder)
    assert model.text is not None
    sentences = [line.split() for line in read_lines(corpus / "test.zh")[:SENTENCES]]
    text = "".join(tokens.text for tokens in model.text.source.detokenise(sentences))
    show.heading(f"Text in, text out: treeglot.load({str(folder)!r}).translate(…)")
    show.lines([text, model.translate(text).text])


def _derivation(steps: list[dict[str, Any]]) -> list[str]:
    """Format the rules, each indented below the rule that uses it."""
    lines, waiting = [], [1]
    for step in steps:
        while waiting[-1] == 0:
            waiting.pop()
        waiting[-1] -= 1
        lines.append(f"{'  ' * (len(waiting) - 1)}{step['source']}  →  {step['target']}")
        waiting.append(step["children"])
    return lines
