"""`treeglot align-sentences`: finds sentence pairs in documents that are parallel by paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say
from treeglot.cli.parameters import FILE, MappedFile, NewFile, TextFile, Threads


def align_sentences(
    source: Annotated[TextFile, typer.Argument(help="The source document.")],
    target: Annotated[TextFile, typer.Argument(help="Its translation.")],
    out_source: Annotated[Path, typer.Option(help="Where the source sentences of the pairs go."), FILE],
    out_target: Annotated[Path, typer.Option(help="Where the target sentences of the pairs go."), FILE],
    dropped: Annotated[
        NewFile, typer.Option(help="Where the rest goes: paragraph, reason, probability, source, target between tabs.")
    ] = None,
    languages: Annotated[
        str,
        typer.Option(
            help="ISO codes such as zh-en: each line is a paragraph of raw text. Otherwise each line is a tokenised "
            "sentence, and empty lines end paragraphs."
        ),
    ] = "",
    model: Annotated[
        MappedFile, typer.Option(help="A saved aligner; default: train one on pairs found by length.")
    ] = None,
    lengths: Annotated[bool, typer.Option("--lengths", help="Judge by lengths alone.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Take each document as one paragraph.")] = False,
    least: Annotated[float, typer.Option(min=0, max=1, help="Least probability of a pair.")] = 0.5,
    threads: Threads = 1,
) -> None:
    """Find sentence pairs in documents that are parallel by paragraph."""
    from contextlib import ExitStack

    from treeglot.align import Aligner
    from treeglot.align.sentences import align_sentences as find
    from treeglot.base.files import write_binary

    if lengths and model is not None:
        raise UsageError("--lengths and --model: expected one of them, words are judged by the model")
    sides = _read(source, target, languages, threads)
    if whole:
        sides = [[Side([one for paragraph in side for one in paragraph.sentences])] for side in sides]
    if len(sides[0]) != len(sides[1]):
        counts = f"{source} has {len(sides[0]):,} paragraphs and {target} has {len(sides[1]):,}"
        raise UsageError(f"{counts}; expected as many, or --whole to align the documents as one paragraph")
    pairs = list(zip(*sides, strict=True))
    aligner = None if model is None else Aligner.load(model)
    beads = find([(s.words(), t.words()) for s, t in pairs], aligner, learn=not lengths, threads=threads)
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with ExitStack() as files:
        kept = [files.enter_context(write_binary(path)) for path in (out_source, out_target)]
        others = None if dropped is None else files.enter_context(write_binary(dropped))
        for number, (paragraphs, found) in enumerate(zip(pairs, beads, strict=True), start=1):
            for bead in found:
                texts = [side.text(part) for side, part in zip(paragraphs, (bead.source, bead.target), strict=True)]
                reason = bead.dropped or ("doubtful" if bead.probability < least else "")
                if not reason:
                    kinds[f"{len(bead.source)}-{len(bead.target)}"] += 1
                    for stream, text in zip(kept, texts, strict=True):
                        stream.write(f"{text}\n".encode())
                    continue
                reasons[reason] += 1
                if others is not None:
                    others.write("\t".join((str(number), reason, f"{bead.probability:.4f}", *texts)).encode() + b"\n")
    told = [f"{name} {count:,}" for name, count in [*sorted(kinds.items()), *sorted(reasons.items())]]
    say(", ".join([f"{kinds.total():,} pairs of {len(pairs):,} paragraphs", f"{reasons.total():,} dropped", *told]))


@dataclass(frozen=True)
class Side:
    """One side of a paragraph: its sentences with the blanks after them, and their words."""

    sentences: list[tuple[str, list[str]]]

    def words(self) -> list[list[str]]:
        """Return the words of each sentence."""
        return [words for _, words in self.sentences]

    def text(self, part: range) -> str:
        """Join the sentences of this side into one line."""
        return "".join(self.sentences[k][0] for k in part).strip()


def _read(source: Path, target: Path, languages: str, threads: int) -> list[list[Side]]:
    """Read both documents, and return their paragraphs."""
    if not languages:
        return [list(_tokenised(source)), list(_tokenised(target))]
    from treeglot.text.languages import find_languages

    codes = find_languages(languages)
    return [_raw(path, code.code, threads) for path, code in zip((source, target), codes, strict=True)]


def _tokenised(path: Path) -> Iterator[Side]:
    from treeglot.syntax.formats import read_text

    sentences: list[tuple[str, list[str]]] = []
    for words in read_text(path):
        if words:
            sentences.append((" ".join(words) + " ", list(words)))
        elif sentences:
            yield Side(sentences)
            sentences = []
    if sentences:
        yield Side(sentences)


def _raw(path: Path, language: str, threads: int) -> list[Side]:
    """Split each line into sentences. Sentences keep the blanks after them."""
    from treeglot.base.files import read_lines
    from treeglot.text import TextSettings, TextSide

    side = TextSide(TextSettings(language))
    paragraphs: list[list[str]] = []
    for line in read_lines(path):
        begins = [*(begin for begin, _ in side.split(line)), len(line)]
        paragraphs.append([line[a:b] for a, b in pairwise(begins)])
    tokens = iter(side.tokenise([text.strip() for texts in paragraphs for text in texts], threads))
    return [
        Side([(text, words) for text, words in zip(texts, side.fold(next(tokens).words for _ in texts), strict=True)])
        for texts in paragraphs
    ]
