"""Learning from a correction: adds the rules of one sentence pair to a model (docs/corrections.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from itertools import accumulate, pairwise
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeAlias

from treeglot._core import escaped_word
from treeglot.align import Aligner
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_json
from treeglot.base.options import options_in
from treeglot.corpus.pairs import NO_DEPENDENCY, NO_TREE, Pair
from treeglot.corpus.parses import as_forest
from treeglot.models.artefacts import ALIGNER, SOURCE_HEADS
from treeglot.models.folder import move_in
from treeglot.models.kinds import find_kind
from treeglot.models.reading import KEPT, with_words
from treeglot.models.steps import find_step, key_of
from treeglot.rules.corrections import CORRECTIONS, Correction, Corrections, append, remove_group
from treeglot.rules.learn import RuleLearner, escaped
from treeglot.rules.merge import as_in_tables, is_like
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree, heads
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.head_style import head_style
from treeglot.syntax.lattice import Lattice, LatticeForest
from treeglot.text.variables import VARIABLES, link_variables

if TYPE_CHECKING:
    from pathlib import Path

    from treeglot.models.kind import Kind
    from treeglot.models.model import Model
    from treeglot.models.reading import Given

Sides: TypeAlias = tuple[str, str, str | None]  # left-hand side, source and target of a rule

TRAINING = "training.json"
SENTENCE = 3  # source words: a rule for fewer would win in other sentences, too
MOST_SYMBOLS = 255  # of a side of a rule
BONUS = 500.0  # of what was taught, for each source word but one: a sentence wins over its parts, and over all others
UNTAUGHT = (("preferred", 0.0),)
LONGEST = 20  # source words of a phrase that is learnt, if the search has no limit below


def training_options(folder: Path, kind: Kind) -> Any:
    """Return the options that the model of a folder was trained with."""
    path = folder / TRAINING
    if not path.is_file():
        raise FormatError(os.fspath(path), 0, "is not there; expected the options of the model's training")
    return options_in(path, kind.options, read_json(path, options=dict)["options"], table_name="options")


@dataclass(frozen=True)
class Learnt:
    """The rules and other changes that a model has learnt from one sentence pair."""

    group: str  # undoes it
    source: tuple[str, ...]  # words, as rules have them
    target: tuple[str, ...]
    links: Alignment
    rules: tuple[Correction, ...]  # that were added; and those that other translations of it lose their bonus by
    known: int  # rules of the pair that the model had already
    step: Correction | None = None  # of the weights, if they were to learn and had to


def learn(
    model: Model,
    source: Given,
    target: Given,
    alignment: Alignment | str | None = None,
    author: str = "",
    aligner: Aligner | PathLike | None = None,
    weights: bool = False,
) -> Learnt:
    """Add the rules of a sentence pair to a model and to its folder. When this returns, they are on disk.

    With `weights`, the model's weights also make a small step, which is stored with the pair's corrections.
    """
    model.need_table("corrections")
    if isinstance(alignment, str):
        try:
            alignment = Alignment.parse(alignment)
        except ValueError as error:
            raise UsageError(f"alignment: {error}") from error
    if aligner is not None and not isinstance(aligner, Aligner):
        aligner = Aligner.load(aligner)
    found = model.learner.learn(source, target, alignment, author, aligner, weights)
    added = found.rules if found.step is None else (*found.rules, found.step)
    if added:
        held = model.corrections or Corrections((), os.fspath(model.directory / CORRECTIONS))
        after = held.lines[-1] if held.lines else 0
        lines = (*held.lines, *range(after + 1, after + 1 + len(added)))

        def keep() -> None:
            move_in(model.directory)  # a waiting model must not replace this one
            append(model.directory / CORRECTIONS, added)

        model.correct(Corrections((*held.corrections, *added), held.file, lines), keep)
    return found


def undo(model: Model, group: str | None = None) -> Corrections:
    """Undo the last group of corrections, or the named one, in a model and its folder."""
    path = model.directory / CORRECTIONS
    groups = Corrections.read(path).groups if path.is_file() else ()
    if group is None and not groups:
        raise UsageError(f"{model.directory} has learnt nothing that could be undone")
    chosen = groups[-1] if group is None else group
    if chosen not in groups:
        raise UsageError(f"{path} has no group {chosen!r}; expected one of its {len(groups):,} groups")
    removed = remove_group(path, chosen)
    if model.corrections is not None:
        model.correct(model.corrections.without_group(chosen))
    return removed


class Learner:
    """Extracts the rules of sentence pairs for a model. It reads the files that it needs on first use."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kind = find_kind(model.kind)

    def learn(
        self,
        source: Given,
        target: Given,
        alignment: Alignment | None,
        author: str,
        aligner: Aligner | None = None,
        weights: bool = False,
    ) -> Learnt:
        """Extract the rules of a pair, and optionally a step of the weights. The model does not change yet."""
        pair = self.pair(source, target, alignment, aligner)
        now = datetime.now(timezone.utc)
        group = f"{now:%Y%m%d-%H%M%S}-{token_hex(4)}"
        notes = {"author": " ".join(author.split()), "date": now.isoformat(timespec="seconds"), "group": group}
        found = self.rules.rules(pair, **notes)
        held = self.model.corrections or ()
        known = [rule.correction for rule in found if rule.known]
        lost = forbidden(held, known)
        wanted = [rule.correction for rule in found if not rule.known] + lost
        new = [rule for rule in wanted if _is_general(rule)]
        parts = {_sides(part): part for part in self._parts(pair, notes)}
        for sides, part in parts.items():
            same = next((rule for rule in new if _sides(rule) == sides), part)
            new = [*(rule for rule in new if rule is not same), replace(same, features=(*same.features, _bonus(same)))]
        new += (
            Correction("reweight", *sides, features=UNTAUGHT, **notes) for sides in taught_otherwise(held, list(parts))
        )
        words = tuple(pair.source), tuple(pair.target)
        step = self._step(source, pair.target, notes) if weights else None
        return Learnt(group, *words, pair.links, tuple(new), len(known) - len(lost), step)

    def _step(self, source: Given, target: Sequence[str], notes: dict[str, str]) -> Correction | None:
        """Return a step that moves the weights from the model's translation towards the taught one."""
        inputs, _ = self.model.reader.inputs(source)
        if len(inputs) != 1:
            return None
        tuned, held = self.model.tuned, self.model.corrections
        made = find_step(self.model.translator, tuned, held, inputs[0], target)
        return Correction("weigh", "", key_of(tuned), None, features=made, **notes) if made else None

    def _parts(self, pair: Pair, notes: dict[str, str]) -> list[Correction]:
        """Return phrases that translate the whole sentence, with a bonus by which they win wherever they match.

        If rules can cover the whole sentence, there is one phrase. Otherwise, the sentence is split where no link
        crosses. Sentences that are very short, or that cannot be split, get no phrases.
        """
        limit = self.model.translator.options.span_limit
        most = limit if limit > 0 and not self.kind.parses else MOST_SYMBOLS
        made = []
        for (begin, end), (first, last) in cut_pair(len(pair.source), len(pair.target), pair.links, most):
            source, target = pair.source[begin:end], pair.target[first:last]
            inside = [(i - begin, j - first) for i, j in pair.links.links.tolist() if begin <= i < end]
            links = " ".join(f"{i}-{j}" for i, j in sorted(inside))
            one, other = (escaped(" ".join(map(escaped_word, words))) for words in (source, target))
            made.append(Correction("add", "X", one, other, links, (), **notes))
        return made if all(map(_is_general, made)) else []

    @cached_property
    def options(self) -> Any:
        """The options that the model was trained with."""
        return training_options(self.model.directory, self.kind)

    @cached_property
    def rules(self) -> RuleLearner:
        """The rule learner, which extracts rules and computes their features."""
        table, _ = Corrections(()).apply(self.model.translator.table)  # without what was learnt before
        limit = self.model.translator.options.span_limit
        longest = min(limit, LONGEST) if limit > 0 else LONGEST
        scope = self.options.compile.max_scope
        return RuleLearner(table, self.kind.extractor, self.kind.extraction(self.options), longest, scope)

    @cached_property
    def aligner(self) -> Aligner:
        """The word aligner of the model."""
        folder = self.model.directory / ALIGNER
        if not folder.is_dir():
            raise UsageError(
                f"{self.model.directory} has no aligner, because it was trained with given links. Expected the links "
                "of the pair, or the folder of a saved aligner (treeglot align --save)"
            )
        return Aligner.load(folder)

    def pair(self, source: Given, target: Given, alignment: Alignment | None, aligner: Aligner | None) -> Pair:
        """Return the words of a sentence and of its translation, in the form that rules use, and their links."""
        if isinstance(source, Lattice | LatticeForest) or isinstance(target, Lattice | LatticeForest):
            raise UsageError("a lattice was given to learn from; expected a sentence and its translation")
        words, parse, surface = self._source(source)
        target_words, target_parse = self._target(target, source)
        if not words or not target_words:
            raise UsageError("a side of the pair is empty; expected a sentence and its translation")
        links = alignment if alignment is not None else (aligner or self.aligner).align(words, target_words)
        try:
            links.check(len(words), len(target_words))
        except ValueError as error:
            raise UsageError(f"alignment: {error}") from error
        links = link_variables(words, target_words, links)
        return Pair(1, words, target_words, links, **self._source_parse(source, words, parse, surface), **target_parse)

    def _source(self, source: Given) -> tuple[list[str], Any, list[str]]:
        """Prepare the source: its words in the form that rules use, the decoder's input, and the words of the text."""
        inputs, surface = self.model.reader.inputs(source)
        if len(inputs) == 1:
            given = inputs[0]
            return (given.split() if isinstance(given, str) else _words(given)), given, surface[0]
        if self.kind.needs.source != "words":
            raise UsageError(f"a text of {len(inputs)} sentences; a {self.kind.name} model learns from one at a time")
        [words] = self.model.reader.words([source])
        return words, None, [word for part in surface for word in part]

    def _source_parse(self, source: Given, words: list[str], given: Any, surface: Sequence[str]) -> dict[str, Any]:
        match self.kind.needs.source:
            case "forest" | "best" as wanted:
                return {"source_forest": as_forest(given, wanted == "best") if isinstance(given, ParseForest) else None}
            case "dependency":
                arcs = given if isinstance(given, Dependency) else NO_DEPENDENCY
                if isinstance(given, ParseForest):
                    table = heads.load(self.model.directory / SOURCE_HEADS)
                    [arcs] = to_dependencies([given.viterbi()], table, head_style("table"))
                return {"source_dependency": arcs}
            case "tree":
                tree = source if isinstance(source, Tree) else self._tree("source", words, surface)
                return {"source_tree": tree}
        return {}

    def _target(self, target: Given, source: Given) -> tuple[list[str], dict[str, Any]]:
        """Prepare the target: its words in the form that rules use, and its parse if the kind needs one."""
        wanted = self.kind.needs.target
        text = self.model.text
        parsed = target if isinstance(target, Tree | Dependency | ParseForest) else None
        line = " ".join(_words(target)) if not isinstance(target, str) else target
        words = _words(parsed) if parsed is not None else self.model.reader.target_words(line, source)
        if wanted == "words":
            return words, {}
        if parsed is None:
            surface = words if text is None else text.target.tokenise([line])[0].words
            parsed = self._parse("target", surface)
        best: Any = parsed.viterbi() if isinstance(parsed, ParseForest) else parsed
        if wanted == "tree":
            return words, {"target_tree": _relabelled(best, words)}
        if isinstance(best, Tree):
            table, style = heads.load(self.options.target_heads), head_style(self.options.target_style)
            [best] = to_dependencies([best], table, style)
        arcs = Dependency(words, best.heads.tolist(), best.tags, best.relations)
        if not arcs.is_projective() and not arcs.cycle():
            arcs, _ = arcs.projectivise()
        return words, {"target_dependency": arcs}

    def _tree(self, side: str, words: list[str], surface: Sequence[str]) -> Tree:
        if side == "source" and any("source_trees" in name for name in self.kind.optional):
            return NO_TREE
        parsed = self._parse(side, surface)
        tree = parsed.viterbi() if isinstance(parsed, ParseForest) else parsed
        return _relabelled(tree, words)

    def _parse(self, side: str, words: Sequence[str]) -> Any:
        reader = self.model.reader
        parser = reader.parser if side == "source" else reader.target_parser
        if parser is None:
            raise UsageError(
                f"a {self.kind.name} model learns from parses of the {side} side, and {self.model.directory} has no "
                "parser for it; expected a tree instead of text"
            )
        return next(iter(parser.parse([list(words)])))


def cut_pair(source: int, target: int, links: Alignment, most: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Split a pair into the fewest parts of 3 to `most` source words, in the same order on both sides.

    The result is empty if no such split exists. Every part has target words, because a part without any would delete
    its source words in other sentences.

    >>> cut_pair(6, 4, Alignment.parse("0-0 1-1 2-1 3-3 4-2"), 3)
    [((0, 3), (0, 2)), ((3, 6), (2, 4))]
    """
    if target > MOST_SYMBOLS:
        return []
    ends, begins = [0] * (source + 1), [target] * (source + 1)  # of what links lead to before and after each place
    for i, j in links.links.tolist():
        ends[i + 1] = max(ends[i + 1], j + 1)
        begins[i] = min(begins[i], j)
    ends = list(accumulate(ends, max))
    begins = list(accumulate(reversed(begins), min))[::-1]
    ends[source] = target
    fewest: dict[int, list[int]] = {0: [0]}  # by place: the cuts before it
    for end in range(1, source + 1):
        if end < source and ends[end] > begins[end]:
            continue
        begins_before = range(max(0, end - most), end - SENTENCE + 1)
        before = [fewest[b] for b in begins_before if b in fewest and ends[b] < ends[end]]
        if before:
            fewest[end] = [*min(before, key=len), end]
    places = fewest.get(source, [0])
    return [((b, e), (ends[b], ends[e])) for b, e in pairwise(places)]


def forbidden(held: Iterable[Correction], rules: Iterable[Correction]) -> list[Correction]:
    """Return the rules that some corrections forbid and later ones do not add again."""
    by_source: dict[str, list[Correction]] = {}
    for each in held:
        if each.action in ("add", "forbid"):
            same = as_in_tables(each)
            by_source.setdefault(same.source, []).append(same)
    out = []
    for rule in rules:
        own = as_in_tables(rule)
        sides = own.lhs, own.target, own.structure
        actions = [each.action for each in by_source.get(own.source, ()) if is_like(*sides, each)]
        out += [rule] if actions[-1:] == ["forbid"] else []
    return out


def taught_otherwise(held: Iterable[Correction], parts: Sequence[Sides]) -> list[Sides]:
    """Find taught phrases that a new lesson replaces.

    These are phrases for the same sentence or its parts that the lesson itself does not contain.
    """
    taught: dict[str, dict[Sides, None]] = {}  # by group
    lost: set[Sides] = set()
    for each in held:
        sides = _sides(each)
        if each.action == "add" and _bonus(each) in each.features:
            taught.setdefault(each.group, {})[sides] = None
            lost.discard(sides)
        elif each.action == "reweight" and each.features == UNTAUGHT:
            lost.add(sides)
    sentence, sources = _sentence(parts), {source for _, source, _ in parts}
    found = {
        sides: None
        for group in taught.values()
        for sides in group
        if sides[1] in sources or _sentence(group) == sentence
    }
    return [sides for sides in found if sides not in parts and sides not in lost]


def _bonus(rule: Correction) -> tuple[str, float]:
    return "preferred", BONUS * (len(rule.source.split(" ")) - 1)


def _sentence(parts: Iterable[Sides]) -> str:
    return " ".join(source for _, source, _ in parts)


def _sides(rule: Correction) -> Sides:
    return rule.lhs, rule.source, rule.target


def _is_general(rule: Correction) -> bool:
    """Return whether a rule is useful for other sentences. It must not copy a word or add a number."""
    source, target = rule.source.split(), (rule.target or "").split()
    return KEPT not in source and all(word in source for word in target if word in VARIABLES)


def _words(value: Any) -> list[str]:
    return list(value) if isinstance(value, list | tuple) else list(value.words)


def _relabelled(tree: Tree, words: list[str]) -> Tree:
    """Return a tree whose words are replaced by the words that rules use."""
    forest = as_forest(tree)
    return NO_TREE if forest is None else with_words(forest, words).viterbi()  # type: ignore[union-attr]
