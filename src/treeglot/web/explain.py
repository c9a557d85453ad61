"""Explains translations with drawings and competing rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from treeglot._core import Tokens
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import Options, option, required, unknown
from treeglot.decode import Translation
from treeglot.decode.constraints import Constraints
from treeglot.decode.draw import step_numbers, to_html
from treeglot.decode.glossary import Glossary
from treeglot.decode.translation import Texts
from treeglot.graph import inside, outside
from treeglot.models import Model
from treeglot.syntax import ParseForest, Tree
from treeglot.web.asking import Fields, Json, admit, refuse, service_of, texts_of, within
from treeglot.web.own import asked, describe, merged, pick
from treeglot.web.shelf import Served
from treeglot.web.translate import cut

EDGES = 20_000  # of a search forest that competing rules are taken from
RULES = 5  # that are listed of a span
NODES = 2000  # of a tree that is given

Nested = list[Any]


@dataclass(frozen=True)
class SentenceRequest(Options):
    """Fields of a request about one sentence: the sentence, its languages and the model."""

    q: str = required("one sentence; of several, the first is explained")
    model: str = option("", "the name of a model; empty: the first for the languages")
    source: str = option("auto", "the language of the text, or auto")
    target: str = option("", "the language to translate to; empty: what the first model gives")
    api_key: str = option("", "the key, unless a header has it")


@dataclass(frozen=True)
class ExplainRequest(SentenceRequest):
    """Fields of a request to explain the translation of a sentence."""

    tree: Any = option(None, 'the parse to translate, nested lists such as ["NP", ["NN", "屋"]]; null: the parser\'s')
    weights: dict[str, float] = option({}, "weights instead of the model's")
    glossary: dict[str, str] = option({}, "terms and their translations, which are forced")
    contains: tuple[str, ...] = option((), "phrases that the translation must have")
    forbid: tuple[str, ...] = option((), "phrases that it must not have")
    margin: float = option(4.0, "list rules of derivations that score within this of the best", least=0, most=50)


async def explain(request: Request) -> Response:
    """Answer `POST /v1/explain` with drawings of a translation and competing rules."""
    wanted, fields = await asked(request, ExplainRequest)
    [text] = texts_of(request, wanted.q)
    admit(request, fields, characters=len(text))
    served = pick(request, wanted, [text])
    tree = tree_of(wanted.tree) if wanted.tree is not None else None
    constraints = Constraints(contains=wanted.contains, forbid=wanted.forbid)

    def work() -> Fields:
        try:
            model = with_weights(served, tuple(sorted(wanted.weights.items())))
        except UsageError as error:
            raise refuse(str(error)) from error
        found = translate_one(model, text, tree, constraints, merged(model, wanted.glossary))
        return {
            "model": served.name,
            "digest": served.digest,
            "sentence": describe(served, found, True),
            "html": drawn(found),
            "parts": list(step_numbers(found.derivation).values()),
            "words": list(found.words),
            "forest": isinstance(found.given, ParseForest) and found.given.parsed,
            "competing": competing(found, wanted.margin),
            "weights": dict(model.weights),
        }

    [answer] = await within(request, service_of(request).workers.all([work]))
    return Json(answer)


@lru_cache(maxsize=8)
def with_weights(served: Served, weights: tuple[tuple[str, float], ...]) -> Model:
    """Return a copy of the model with other weights for some features."""
    if not weights:
        return served.model
    for name, _ in weights:
        if name not in served.model.weights:
            raise UsageError(unknown("feature", name, served.model.weights))
    return served.model.with_weights({**served.model.weights, **dict(weights)})


def translate_one(
    model: Model, text: str, tree: Tree | None, constraints: Constraints, glossary: Glossary | None
) -> Translation:
    """Translate the first sentence of a text, or a tree."""
    sentence = first_sentence(model, text)
    wanted = constraints if constraints.contains or constraints.forbid else None
    found = model.translate(sentence.words if tree is None else tree, wanted, glossary)
    return found if tree is not None else found.with_texts(Texts(sentence, found.target_tokens))


def first_sentence(model: Model, text: str) -> Tokens:
    """Return the words of a text's first sentence."""
    pieces = cut(model, text)
    if not pieces:
        raise refuse("there is no sentence in the text")
    return pieces[0][1]


def tree_of(nested: Any) -> Tree:
    """Convert nested lists, as JSON contains them, to a tree."""
    nodes = 0

    def tuples(value: Any, depth: int) -> Any:
        nonlocal nodes
        nodes += 1
        if nodes > NODES or depth > 200:
            raise refuse(f"the tree is too large; expected at most {NODES:,} nodes and 200 levels")
        if isinstance(value, str):
            return value
        if not isinstance(value, list) or len(value) < 2 or not isinstance(value[0], str):
            raise refuse('this is not a tree; expected nested lists such as ["NP", ["NN", "屋"]]')
        return (value[0], *(tuples(child, depth + 1) for child in value[1:]))

    try:
        return Tree.from_nested(tuples(nested, 0))
    except (TreeglotError, ValueError, TypeError) as error:
        raise refuse(f"this is not a tree: {error}") from error


def drawn(found: Translation) -> str:
    """Return the drawings of a translation as HTML.

    The page has a strict policy that forbids style attributes. So a script of the page sets the styles.
    """
    return to_html(found).replace(' style="', ' data-style="')


def competing(found: Translation, margin: float) -> list[Fields]:
    """Return the rules of derivations that score within `margin` of the best one, by span.

    For each rule, `lost` is the smallest loss of a derivation that uses it.
    """
    if not found.hypotheses or not found.derivation.steps:
        return []
    forest = found.forest(margin)
    while forest.graph.edges > EDGES and margin > 0.1:
        margin /= 2
        forest = found.forest(margin)
    graph = forest.graph
    if graph.goal is None:
        return []
    inner = inside(graph, forest.scores, "viterbi")
    outer = outside(graph, forest.scores, "viterbi", inner)
    best = float(inner[graph.goal])
    first, tails, heads = graph.first_tail.tolist(), graph.tails.tolist(), graph.heads.tolist()
    spans: dict[tuple[int, int], dict[str, tuple[float, Mapping[str, float]]]] = {}
    for edge, (head, rule, score) in enumerate(zip(heads, forest.rules, forest.scores.tolist(), strict=True)):
        total = score + float(outer[head]) + sum(float(inner[t]) for t in tails[first[edge] : first[edge + 1]])
        lost = max(best - total, 0.0)
        rules = spans.setdefault(forest.spans[head], {})
        if rule not in rules or lost < rules[rule][0]:
            rules[rule] = lost, forest.features[edge]
    return [
        {
            "span": list(span),
            "rules": [
                {"rule": rule, "lost": round(lost, 4), "features": dict(features)}
                for rule, (lost, features) in sorted(rules.items(), key=lambda each: (each[1][0], each[0]))[:RULES]
            ],
            "left_out": max(len(rules) - RULES, 0),
        }
        for span, rules in sorted(spans.items(), key=lambda each: (each[0][0], -each[0][1]))
    ]
