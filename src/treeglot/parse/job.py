"""Parses a corpus in shards, on the machines of an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeglot._core import write_brackets
from treeglot.base.files import write_binary
from treeglot.parse.parser import GrammarParser, ParsingOptions, load_parser
from treeglot.syntax.formats import encode_values


@dataclass(frozen=True)
class ParseShard:
    """Parses the sentences of a shard with grammars in folders. `encode_parses` writes the results."""

    model: str
    options: ParsingOptions
    level: int | None
    out: str  # what errors call the output
    format: str
    kbest: int
    also: tuple[str, ...] = ()

    def open(self) -> GrammarParser:
        """Load the parser that all shards use."""
        return load_parser(self.model, self.options, self.level, self.also)

    def run(
        self, opened: GrammarParser, records: Sequence[list[str]], first: int, threads: int, part: Path
    ) -> dict[str, Any]:
        """Parse the sentences of a shard and write the results. Return how many sentences have each status."""
        parser = opened.afresh(threads)
        parses = parser.trees(records) if self.format == "brackets" else parser.forests(records)
        values = (parsed.value for parsed in parses)
        with write_binary(part) as stream:
            lists = (
                encode_lists(parser, values, self.kbest)
                if self.kbest
                else encode_values(self.out, values, self.format, first)
            )
            for text in lists:
                stream.write(text)
        return {"counts": dict(parser.counts), "places": parser.places, "cut": parser.cut}


def encode_lists(parser: GrammarParser, forests: Iterator[Any], kbest: int) -> Iterator[bytes]:
    """Encode the best trees of each forest with their scores. An empty line follows each list."""
    for forest in forests:
        lines = [f"{score:.6f}\t{write_brackets(tree)}\n" for score, tree in parser.kbest_of(forest, kbest)]
        yield "".join([*(lines or ["(())\n"]), "\n"]).encode()
