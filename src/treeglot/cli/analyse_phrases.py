"""`treeglot analyse phrases`: counts the phrase pairs that are constituents, or that nest."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.output import say, warn
from treeglot.cli.parameters import NewFile, Threads
from treeglot.corpus import Corpus


def analyse_phrases(
    corpus: Corpus,
    first: Annotated[int, typer.Option(help="Number of sentence pairs to use; 0: all.", min=0)] = 0,
    max_phrase: Annotated[int, typer.Option(help="Source words of a phrase, at most; -1: any number.", min=-1)] = -1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out trees that do not fit, and count them.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[NewFile, typer.Option(help="Also draw them, to an SVG file.")] = None,
    threads: Threads = 1,
) -> None:
    """Count phrase pairs: all of them, the largest set that nests, and those whose sides are constituents."""
    from itertools import islice
    from json import dumps

    from treeglot.analyse import phrase_kinds
    from treeglot.base.errors import UsageError
    from treeglot.base.files import write_binary
    from treeglot.corpus import Needs

    if max_phrase == 0:
        raise UsageError("--max-phrase is 0; expected 1 or more, or -1 for no limit")
    corpus.expect("alignments", "source_trees", "target_trees")
    if corpus.united:
        raise UsageError("--more-alignments and --alignment-weights are for training; expected one alignment")
    pairs = corpus.pairs(Needs(source="tree", target="tree", skip_bad=skip_bad))
    found = phrase_kinds(islice(pairs, first or None), max_phrase, threads)
    say(f"{found.pairs:,} sentence pairs")
    for line in pairs.counts.lines():
        warn(line)
    print(dumps(found.as_json(), indent=1) if json else found.text())
    if plot is not None:
        with write_binary(plot) as stream:
            stream.write(found.plot().encode())
