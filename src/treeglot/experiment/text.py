"""Turns raw text into words, in the first steps of a recipe that has the table `[text]`."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import read_lines, write_binary
from treeglot.base.options import Options, option, required
from treeglot.experiment.step import Input, Output, Step, Task
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.languages import find_languages
from treeglot.text.variables import NumberVariables
from treeglot.text.words import LEARNT

STEP = "text"  # learns how both languages are written, and gives the words of the corpus


@dataclass(frozen=True)
class TextRecipe(Options):
    """Settings of a recipe whose models take raw text."""

    languages: str = required("ISO codes of both languages, such as de-en or zh-Hant:en")
    tokenised: bool = option(False, "the files are in words already; how text becomes such words is learnt from them")
    source_tokeniser: str = option("icu", "of raw files: icu, jieba, fugashi or sudachi")
    target_tokeniser: str = option("icu", "likewise")
    split_words: bool = option(True, "of raw files in languages without blanks: split words that are several")
    numbers: bool = option(True, "of raw files: rare numbers become variables of rules")
    lowercase: bool = option(True, "of raw files: the model's words are in lower case; its output has the case of text")

    def __post_init__(self) -> None:
        """Refuse unknown languages and tokenisers."""
        super().__post_init__()
        self.settings()

    def settings(self) -> tuple[TextSettings, TextSettings]:
        """Return the text settings of both sides."""
        source, target = find_languages(self.languages)
        case: Literal["lower", "keep"] = "lower" if self.lowercase else "keep"
        tokenisers = self.source_tokeniser, self.target_tokeniser
        return TextSettings(source.code, tokenisers[0], case), TextSettings(target.code, tokenisers[1], case)


def text_steps(recipe: TextRecipe, corpus: dict[str, Input], dev: dict[str, Input]) -> list[Step]:
    """Return the steps that turn text into words. Afterwards, `corpus` and `dev` contain the words.

    Files called `surface` contain the same words with the case of the text, which parsers need.
    """
    if recipe.tokenised:
        return [Step(STEP, partial(_learn_words, recipe), {s: corpus[s] for s in ("source", "target")}, asdict(recipe))]
    for files, name in ((corpus, "corpus"), (dev, "dev")):
        for given in files:
            if given not in ("source", "target") and not given.startswith("reference "):
                raise UsageError(f"{name}.{given} belongs to words; with [text], words, links and parses are made")
    settings = asdict(recipe)
    steps = [Step(STEP, partial(_learn, recipe), {name: corpus[name] for name in ("source", "target")}, settings)]
    for side in ("source", "target"):
        corpus |= {side: Output(STEP, f"{side}.words"), f"surface {side}": Output(STEP, f"{side}.surface")}
    if dev:
        name = f"{STEP} dev"
        steps.append(Step(name, _tokenise, {"text": Output(STEP), **dev}))
        for file in list(dev):
            dev[file] = Output(name, f"{file.replace(' ', '.')}.words")
        dev["surface source"] = Output(name, "source.surface")
    return steps


def _learn(recipe: TextRecipe, task: Task) -> None:
    paths = [task.inputs[name] for name in ("source", "target")]
    texts = [read_lines(path) for path in paths]
    found, wanted = len(texts[1]), len(texts[0])
    if found != wanted:
        raise FormatError(str(paths[1]), 0, f"has {found:,} lines; expected {wanted:,}, as {paths[0]} has")
    sides, words = [], []
    for settings, lines in zip(recipe.settings(), texts, strict=True):
        side = TextSide(settings)
        sentences = side.tokenise(lines, task.threads)
        if recipe.split_words:
            side, sentences = side.with_splitter(sentences)
        sides.append(side.with_output(sentences))
        words.append([tokens.words for tokens in sentences])
    kept = [place for place, pair in enumerate(zip(*words, strict=True)) if all(pair)]
    if not kept:
        raise FormatError(str(paths[0]), 0, f"has no line with words whose translation in {paths[1]} has any")
    surface = [[own[place] for place in kept] for own in words]
    folded = [side.fold(own) for side, own in zip(sides, surface, strict=True)]
    numbers = None
    if recipe.numbers:
        numbers = NumberVariables.learn(sides[0].language, sides[1].language, folded[0])
        paired = [numbers.fold_pair(*pair) for pair in zip(*folded, strict=True)]
        folded = [[pair[0] for pair in paired], [pair[1] for pair in paired]]
    for name, own, model in zip(("source", "target"), surface, folded, strict=True):
        _write_words(task.out, name, own, model)
    TextPipeline(sides[0], sides[1], numbers).write(task.out)
    if len(kept) < wanted:
        warnings.warn(f"{paths[0]}: {wanted - len(kept):,} pairs with an empty side are left out", stacklevel=2)
    task.report(f"{len(kept):,} sentence pairs")


def _learn_words(recipe: TextRecipe, task: Task) -> None:
    """Learn how text is split into words. If the corpus has no capitals, the words are in lower case."""
    sides = []
    for name, settings in zip(("source", "target"), recipe.settings(), strict=True):
        lines = read_lines(task.inputs[name])
        if other := sum(not unicodedata.is_normalized("NFC", line) for line in lines):
            problem = f"{other:,} lines are not in Unicode's form NFC, in which text is read; expected NFC"
            warnings.warn(f"{task.inputs[name]}: {problem}", stacklevel=2)
        case: Literal["lower", "keep"] = "lower" if all(line == line.lower() for line in lines) else "keep"
        own = replace(settings, tokeniser=LEARNT, case=case)
        sides.append(TextSide.learn(own, words=lines, threads=task.threads))
        if lost := sides[-1].learnt.unaligned:
            warnings.warn(f"{task.inputs[name]}: {lost:,} sentences teach nothing about words", stacklevel=2)
    TextPipeline(sides[0], sides[1]).write(task.out)


def _tokenise(task: Task) -> None:
    """Turn a development set into the words of the model: its sentences and its references."""
    pipeline = TextPipeline.load(task.inputs["text"])
    given = {name: read_lines(path) for name, path in task.inputs.items() if name != "text"}
    wanted = len(given["source"])
    for name, lines in given.items():
        if len(lines) != wanted:
            problem = f"has {len(lines):,} lines; expected {wanted:,}, as {task.inputs['source']} has"
            raise FormatError(str(task.inputs[name]), 0, problem)
    sources = [each.words for each in pipeline.source.tokenise(given.pop("source"), task.threads)]
    folded = pipeline.source.fold(sources)
    numbers = pipeline.numbers
    _write_words(task.out, "source", sources, folded if numbers is None else list(map(numbers.fold_source, folded)))
    for name, lines in given.items():
        surface = [each.words for each in pipeline.target.tokenise(lines, task.threads)]
        own = pipeline.target.fold(surface)
        if numbers is not None:
            values = map(numbers.values, folded)
            own = [numbers.fold(words, next(values), numbers.target) for words in own]
        _write_words(task.out, name.replace(" ", "."), surface, own)


def _write_words(folder: Path, name: str, surface: Sequence[Sequence[str]], words: Sequence[Sequence[str]]) -> None:
    for suffix, lines in (("surface", surface), ("words", words)):
        with write_binary(folder / f"{name}.{suffix}") as stream:
            stream.write("".join(" ".join(line) + "\n" for line in lines).encode())


def surface(files: Mapping[str, Input], side: str) -> Input:
    """Return the input of the parser for one side. If there is text, its words keep their original case."""
    return files.get(f"surface {side}", files[side])
