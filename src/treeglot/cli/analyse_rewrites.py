"""`treeglot analyse rewrites`: counts which labels replace which, in systems with soft syntax."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import show_data
from treeglot.cli.parameters import MAPPED, STREAMED, NewFile, TextFile, Threads, split_named


def analyse_rewrites(
    model: Annotated[
        Path, typer.Argument(help="The folder of a model whose rules have labels, such as t2t-fuzzy."), MAPPED
    ],
    input: Annotated[TextFile, typer.Option(help="What is translated.")],
    weights: Annotated[
        list[str] | None,
        STREAMED,
        typer.Option(help="A system: other weights, NAME=FILE or FILE; may be given again. Default: the model's own."),
    ] = None,
    least: Annotated[float, typer.Option(help="Percentage that a rewrite must reach in some system.")] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with all rewrites.")] = False,
    plot: Annotated[NewFile, typer.Option(help="Also draw them, to an HTML file.")] = None,
    threads: Threads = 1,
) -> None:
    """Count glue, matching and mismatching substitutions, and rewrites, in the best derivations of one or more systems.

    To compare with Hiero, use the weights of a Hiero model in a t2t-fuzzy model. Both have the same rules, so the
    derivations are the same, but have labels.
    """
    from json import dumps

    from treeglot.analyse.rewrites import count_rewrites, rewrites_plot, rewrites_text
    from treeglot.base.errors import UsageError
    from treeglot.base.files import write_binary
    from treeglot.decode.weights import read_weights
    from treeglot.models import load

    loaded = load(model)
    if "match_f" not in loaded.translator.features:
        raise UsageError(f"{model} is a {loaded.kind} model: its derivations have no labels")
    sources = list(loaded.read(input))
    systems = []
    for given in weights or [""]:
        name, file = split_named(given)
        name = name or given or loaded.kind
        system = loaded.with_weights(read_weights(file)) if file else loaded
        translations = system.translate_batch(sources, threads=threads)
        systems.append(count_rewrites(name, (translation.features for translation in translations)))
    if json:
        show_data(dumps([system.as_json() for system in systems], indent=1, ensure_ascii=False))
    else:
        show_data(rewrites_text(systems, least))
    if plot is not None:
        with write_binary(plot) as stream:
            stream.write(rewrites_plot(systems, least).encode())
