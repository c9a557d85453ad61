"""`treeglot translate`: sentences with a trained model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.cli.output import Progress, say, warn
from treeglot.decode import Hypothesis, Source, Translation, Translator

BATCH = 500  # sentences translated between two writes: memory does not grow with the input


def translate(
    model: Annotated[Path, typer.Argument(help="The model's folder.")],
    source: Annotated[Path, typer.Argument(help="Sentences, forests or trees; - is standard input.")] = Path("-"),
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write; - is standard output.")] = Path("-"),
    kbest: Annotated[int, typer.Option(help="Print the best so many of each sentence: NUMBER ||| TEXT ||| …")] = 0,
    distinct: Annotated[bool, typer.Option(help="In a k-best list, only the best derivation of each text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with features.")] = False,
    trace: Annotated[bool, typer.Option(help="The derivation of each output, after it or in the JSON.")] = False,
    time: Annotated[bool, typer.Option(help="Say at the end how long it took.")] = False,
    threads: Annotated[int, typer.Option(help="Threads; they do not change the result.")] = 1,
    pop_limit: Annotated[int | None, typer.Option(help="Hypotheses scored per node; 0: all.")] = None,
    span_limit: Annotated[int | None, typer.Option(help="Widest span of a rule.")] = None,
    markup: Annotated[bool, typer.Option(help='The input gives translations: <x translation="…">…</x>.')] = False,
) -> None:
    """Translate tokenised sentences with a trained model."""
    from dataclasses import replace

    from treeglot.models import load

    loaded = load(model)
    options = replace(loaded.translator.options, markup=markup)
    if pop_limit is not None:
        options = replace(options, pop_limit=pop_limit)
    if span_limit is not None:
        options = replace(options, span_limit=span_limit)
    if options != loaded.translator.options:
        loaded = loaded.with_search(options)
    run(loaded.translator, loaded.read(source), source, out, kbest, distinct, as_json, trace, time, threads)


def run(
    translator: Translator,
    sources: Iterator[Source],
    source: Path,
    out: Path,
    kbest: int,
    distinct: bool,
    as_json: bool,
    trace: bool,
    time: bool,
    threads: int,
) -> None:
    """Translate `sources`, read from `source`, with any translator; used by every command that decodes."""
    from treeglot.base.files import write_binary

    for name in translator.unknown_weights:
        warn(f"the weights name {name!r}, which is no feature of this model")
    number, seconds, words = 0, 0.0, 0
    notes: Counter[str] = Counter()
    with write_binary(out) as stream, Progress("translating", unit="sentences") as progress:
        while batch := list(islice(sources, BATCH)):
            for translation in translator.translate_all(batch, max(kbest, 1), distinct, threads):
                if translation.problem:
                    warn(f"{source}:{number + 1}: {translation.problem}; its output is empty")
                stream.write(render(translation, number, kbest, distinct, as_json, trace).encode())
                number += 1
                seconds += translation.seconds
                words += len(translation.source.split())
                notes.update(set(translation.notes))
            progress.update(number)
    for note, times in notes.items():
        say(f"{note}: {times:,} of {number:,} sentences")
    if time and number:
        say(f"{number:,} sentences, {words:,} words: {seconds:.2f} s of CPU, {1000 * seconds / number:.2f} ms each")


def render(translation: Translation, number: int, kbest: int, distinct: bool, as_json: bool, trace: bool) -> str:
    """What is printed for one sentence."""
    hypotheses = translation.hypotheses if kbest else translation.hypotheses[:1]
    if as_json:
        entry: dict[str, Any] = {"number": number, "source": translation.source, **as_object(translation.best, trace)}
        if kbest:
            entry["kbest"] = [as_object(h, trace) for h in hypotheses]
        if translation.problem:
            entry["problem"] = translation.problem
        return json.dumps(entry, ensure_ascii=False) + "\n"
    if kbest:
        return "".join(
            f"{number} ||| {h.text} ||| {' '.join(f'{n}= {v:.6g}' for n, v in h.features.items())} ||| {h.score:.6f}\n"
            for h in hypotheses
        )
    text = translation.text + "\n"
    if trace and translation.derivation.steps:
        text += "".join(f"# {line}\n" for line in str(translation.derivation).split("\n"))
    return text


def as_object(hypothesis: Hypothesis, trace: bool) -> dict[str, Any]:
    """A hypothesis for JSON."""
    entry: dict[str, Any] = {"text": hypothesis.text, "score": hypothesis.score, "features": hypothesis.features}
    if trace:
        entry["derivation"] = [
            {"label": s.label, "source": s.source, "target": s.target, "span": s.span, "children": s.children}
            for s in hypothesis.derivation.steps
        ]
    return entry
