"""Random joint models for tests, and their scores by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot.neural.train import LinkedPair, ParsedPair, SourceParse
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree

SPECIAL = ["<unk>", "<s>", "</s>", "<none>"]
UNKNOWN, BEGIN, END, NONE = 0, 1, 2, 3
CONSTITUENTS, DEPENDENCIES = 1, 2
PARSE_INPUTS = 4
Floats = npt.NDArray[np.float32]


def random_model(
    source: Sequence[str],
    target: Sequence[str],
    *,
    seed: int = 1,
    history: int = 3,
    before: int = 2,
    after: int = 2,
    embedding: int = 16,
    hidden: int = 32,
    second: int = 0,
    has_source: bool = True,
    sentence: bool = True,
    parse: int = 0,
    heads: bool = False,
    source_fallbacks: Sequence[str] = (),
    target_fallbacks: Sequence[str] = (),
) -> _core.JointModel:
    """A model with random numbers for these words, which are all different."""
    draw = np.random.default_rng(seed)

    def floats(*shape: int) -> Floats:
        return draw.normal(0, 0.3, shape).astype(np.float32).reshape(-1)

    sources = [*SPECIAL, *source_fallbacks, *source]
    targets = [*SPECIAL, *target_fallbacks, *target]
    window = (before + 1 + after if has_source else 0) + (PARSE_INPUTS if parse else 0)
    return _core.JointModel.make(
        facts={
            "history": history,
            "before": before,
            "after": after,
            "has_source": int(has_source),
            "heads": int(heads),
            "embedding": embedding,
            "hidden": hidden,
            "second": second,
            "source_fallbacks": len(source_fallbacks),
            "target_fallbacks": len(target_fallbacks),
            "sentence": int(has_source and sentence),
            "parse": parse,
        },
        source_words=sources,
        target_words=targets,
        source_embeddings=floats(len(sources) if has_source else 0, embedding),
        source_weights=floats(window + (has_source and sentence), embedding, hidden),
        tables=floats(history, len(targets), hidden),
        bias=floats(hidden),
        second_weights=floats(second, hidden),
        second_bias=floats(second),
        output=floats(len(targets), second or hidden),
        output_bias=floats(len(targets)),
        share=np.minimum(floats(len(targets)), 0),
    )


class Reference:
    """The same scores as the core's, by NumPy in doubles."""

    def __init__(self, model: _core.JointModel) -> None:
        facts = model.facts
        self.model, self.facts = model, facts
        self.window = facts["before"] + 1 + facts["after"] if facts["has_source"] else 0
        hidden, words = facts["hidden"], len(model.target_words())

        def values(name: str, *shape: int) -> npt.NDArray[np.float64]:
            return model.values(name).astype(np.float64).reshape(shape)

        self.embeddings = values("source.embeddings", -1, facts["embedding"]) if self.window else None
        self.weights = values("source.weights", -1, facts["embedding"], hidden) if self.window else None
        self.tables = values("tables", facts["history"], words, hidden)
        self.bias = values("bias", hidden)
        self.second = values("second.weights", facts["second"], hidden)
        self.second_bias = values("second.bias", facts["second"])
        self.output = values("output", words, facts["second"] or hidden)
        self.output_bias, self.share = values("output.bias", words), values("share", words)

    def row(
        self, source: Sequence[int], affiliated: int, context: Sequence[Sequence[int]] = ()
    ) -> npt.NDArray[np.float64]:
        """What the source contributes; one position after the sentence is its end, two are nothing."""
        total = self.bias.copy()
        if self.facts["sentence"] and source:
            assert self.embeddings is not None and self.weights is not None
            total += self.embeddings[list(source)].mean(axis=0) @ self.weights[-1]
        if self.facts["parse"]:
            assert self.embeddings is not None and self.weights is not None
            seen = [*context, [END] * PARSE_INPUTS, [NONE] * PARSE_INPUTS][affiliated]
            for k, text in enumerate(seen, self.window):
                total += self.embeddings[text] @ self.weights[k]
        for k in range(self.window):
            at = affiliated + k - self.facts["before"]
            word = BEGIN if at < 0 else END if at >= len(source) else source[at]
            if affiliated == len(source) + 1:
                word = NONE
            assert self.embeddings is not None and self.weights is not None
            total += self.embeddings[word] @ self.weights[k]
        return total

    def context(self, parse: SourceParse | None, words_of_source: int) -> list[list[int]]:
        """The numbers of what a parse says of each word; one without words says nothing."""
        if not self.facts["parse"]:
            return []
        assert parse is not None
        words = self.model.source_words()
        first = len(SPECIAL) + self.facts["source_fallbacks"]
        known = {word: number for number, word in enumerate(words) if number >= first}

        def number(text: str) -> int:
            if not text:
                return NONE
            return known.get(text, UNKNOWN) if " " in text else self.model.source_ids([text])[0]

        said = slow_context(parse) or [[""] * PARSE_INPUTS] * words_of_source
        return [[number(text) for text in texts] for texts in said]

    def logits(
        self,
        source: Sequence[int],
        affiliated: int,
        history: Sequence[int],
        context: Sequence[Sequence[int]] = (),
    ) -> npt.NDArray[np.float64]:
        """The scores of all words without `share`; the newest word of the history comes first."""
        total = self.row(source, affiliated, context) + sum(self.tables[k][word] for k, word in enumerate(history))
        values = np.tanh(total)
        if self.facts["second"]:
            values = np.tanh(self.second @ values + self.second_bias)
        scores: npt.NDArray[np.float64] = self.output @ values + self.output_bias
        return scores

    def score(
        self,
        source: Sequence[str],
        target: Sequence[str],
        links: Alignment,
        parse: SourceParse | None = None,
        tree: Dependency | None = None,
        *,
        normalise: bool = False,
    ) -> list[float]:
        """The log probability of each target word and of the sentence's end; of a lexical model, by source word.

        A model over heads needs the tree of the target, and has no end.
        """
        if self.facts["history"] == 0:
            return self._translations(source, target, links, parse, normalise)
        context = self.context(parse, len(source))
        sources, targets = self.model.source_ids(list(source)), self.model.target_ids(list(target))
        affiliated = [*slow_affiliations(links, len(target), len(source) + 1), len(source)]
        words = [*targets, END]
        histories = [
            [words[i - 1 - k] if i > k else BEGIN for k in range(self.facts["history"])] for i in range(len(words))
        ]
        if self.facts["heads"]:
            assert tree is not None
            words, histories = targets, slow_heads(tree, targets)
        scores = []
        for i, (word, history) in enumerate(zip(words, histories, strict=True)):
            logits = self.logits(sources, affiliated[i], history, context)
            total = np.log(np.exp(logits).sum()) if normalise else 0.0
            scores.append(float(logits[word] + self.share[word] - total))
        return scores

    def _translations(
        self,
        source: Sequence[str],
        target: Sequence[str],
        links: Alignment,
        parse: SourceParse | None,
        normalise: bool,
    ) -> list[float]:
        sources, scores = self.model.source_ids(list(source)), []
        context = self.context(parse, len(source))
        for at, text in enumerate(slow_translations(len(source), target, links)):
            word = self.model.target_ids([text])[0] if text else NONE
            logits = self.logits(sources, at, [], context)
            total = np.log(np.exp(logits).sum()) if normalise else 0.0
            scores.append(float(logits[word] + self.share[word] - total))
        return scores


def slow_context(parse: SourceParse) -> list[list[str]]:
    """By the definition: what a parse says of each word."""
    if isinstance(parse, Dependency):
        tags, relations = parse.tags or [], parse.relations or []

        def of(word: int) -> list[str]:
            head = int(parse.heads[word])
            own = [f"label {texts[word]}" if texts else "" for texts in (tags, relations)]
            return [*own, *((parse.words[head], f"label {tags[head]}" if tags else "") if head >= 0 else ("", ""))]

        return [of(word) for word in range(len(parse.words))]
    tree = parse.viterbi() if isinstance(parse, ParseForest) else parse
    if not len(tree):
        return [[""] * PARSE_INPUTS for _ in parse.words]
    every = [tree[number] for number in range(tree.size)]  # in preorder: of equal spans the larger one comes first
    holders = ("", "ROOT", "TOP", "S1")  # as roots
    nodes = [node for node in every if not node.is_word and (node.parent or node.label not in holders)]

    def largest(found: list[Any]) -> str:
        longest = max((node.span[1] - node.span[0] for node in found), default=0)
        return next((f"label {node.label}" for node in found if node.span[1] - node.span[0] == longest), "")

    out = []
    for word, leaf in enumerate(node for node in every if node.is_word):
        assert leaf.parent is not None
        around = leaf.parent.parent if leaf.parent.parent in nodes else None
        begins = largest([node for node in nodes if node.span[0] == word])
        ends = largest([node for node in nodes if node.span[1] == word + 1])
        out.append([f"label {leaf.parent.label}", f"label {around.label}" if around else "", begins, ends])
    return out


def slow_heads(tree: Dependency, words: Sequence[int]) -> list[list[int]]:
    """By the definition: the head of each word, its side, and the two siblings before it, from the head outwards."""
    heads, out = [int(head) for head in tree.heads], []
    for word, head in enumerate(heads):
        if head < 0:
            out.append([BEGIN] * 4)
            continue
        left = word < head
        between = [other for other in range(*((word + 1, head) if left else (head + 1, word))) if heads[other] == head]
        between.sort(key=lambda other: abs(word - other))  # the nearest to the word first
        siblings = [words[other] for other in between[:2]]
        out.append([words[head], BEGIN if left else END, *siblings, *([BEGIN] * (2 - len(siblings)))])
    return out


def slow_translations(source_words: int, target: Sequence[str], links: Alignment) -> list[str]:
    """Of each source word: the target words that it is linked with, in their order."""
    return [" ".join(word for i, word in enumerate(target) if (at, i) in set(links)) for at in range(source_words)]


def slow_affiliations(links: Alignment, target_words: int, none: int) -> list[int]:
    """By the definition: the middle link; else that of the nearest linked word, the right one first."""
    linked = {i: sorted(s for s, t in links if t == i) for i in range(target_words)}

    def of(i: int) -> int:
        for distance in range(target_words):
            for j in (i + distance, i - distance):
                if linked.get(j):
                    return linked[j][(len(linked[j]) - 1) // 2]
        return none

    return [of(i) for i in range(target_words)]


def linked_pairs(count: int, seed: int = 1) -> list[LinkedPair]:
    """Sentences whose words are translated one by one, in the opposite order."""
    draw = np.random.default_rng(seed)
    out: list[LinkedPair] = []
    for _ in range(count):
        words = [min(int(number), 39) for number in draw.geometric(0.15, draw.integers(1, 7))]
        links = Alignment([(i, len(words) - 1 - i) for i in range(len(words))])
        out.append(([f"s{word}" for word in words], [f"t{word}" for word in reversed(words)], links))
    return out


def parsed_pairs(count: int, kind: int = CONSTITUENTS, seed: int = 1) -> list[ParsedPair]:
    """The same with source parses and target trees. One of seven source parses failed, and one target tree."""
    out: list[ParsedPair] = []
    for number, (source, target, links) in enumerate(linked_pairs(count, seed)):
        tags = [f"T{int(word[1:]) % 5}" for word in source]
        middle = len(target) // 2  # the root: one child of it has further ones
        on = [middle if abs(at - middle) != 3 else at + (1 if at < middle else -1) for at in range(len(target))]
        tree = Dependency(target, [head if head != at else -1 for at, head in enumerate(on)])
        chosen = None if number % 7 == 5 else tree
        if number % 7 == 6:
            out.append((source, target, links, None, chosen))
        elif kind == DEPENDENCIES:
            heads = [at - 1 for at in range(len(source))]
            out.append((source, target, links, Dependency(source, heads, tags), chosen))
        else:
            text = ""
            for tag, word in zip(reversed(tags), reversed(source), strict=True):
                text = f"(N{tag} ({tag} {word}) {text})"
            out.append((source, target, links, Tree.parse(f"(S {text})"), chosen))
    return out


def written(folder: Path, given: list[LinkedPair]) -> list[str]:
    """The files of a small corpus."""
    for name, lines in {
        "source": [" ".join(pair[0]) for pair in given],
        "target": [" ".join(pair[1]) for pair in given],
        "links": [str(pair[2]) for pair in given],
    }.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return [str(folder / name) for name in ("source", "target", "links")]
