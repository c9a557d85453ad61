"""Hypergraphs as JSON; the format is described in docs/formats.md."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from treeglot._core import NO_NODE, Hypergraph
from treeglot.base.errors import FormatError
from treeglot.graph.arrays import Floats, floats

REQUIRED = ("goal", "nodes")
OPTIONAL = ("scores", "node_labels", "edge_labels", "edge_features")


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A hypergraph as read from JSON, with the arrays that were beside it."""

    graph: Hypergraph
    scores: Floats | None = None
    node_labels: list[str] | None = None
    edge_labels: list[str] | None = None
    edge_features: list[dict[str, float]] | None = None


def to_json(
    graph: Hypergraph,
    scores: npt.ArrayLike | None = None,
    node_labels: Sequence[str] | None = None,
    edge_labels: Sequence[str] | None = None,
    edge_features: Sequence[Mapping[str, float]] | None = None,
) -> str:
    """The graph, and what is beside it, as one line of JSON.

    >>> graph = Hypergraph.from_arrays([0, 1, 3], [0, 0, 1, 3], [0, 0, 0], goal=1)
    >>> print(to_json(graph, scores=[-0.5, 0.0, float("-inf")], node_labels=["鸟", "NP"]))
    {"goal":1,"nodes":[[[]],[[0],[0,0]]],"scores":[-0.5,0.0,null],"node_labels":["鸟","NP"]}
    """
    tails = graph.tails.tolist()
    edges = [tails[begin:end] for begin, end in pairwise(graph.first_tail.tolist())]
    nodes = [edges[begin:end] for begin, end in pairwise(graph.first_edge.tolist())]
    document: dict[str, object] = {"goal": graph.goal, "nodes": nodes}
    if scores is not None:
        numbers = floats(scores).tolist()
        _fit("scores", len(numbers), graph.edges, "edges")
        document["scores"] = [None if score == -math.inf else score for score in numbers]
    if node_labels is not None:
        _fit("node_labels", len(node_labels), graph.nodes, "nodes")
        document["node_labels"] = list(node_labels)
    if edge_labels is not None:
        _fit("edge_labels", len(edge_labels), graph.edges, "edges")
        document["edge_labels"] = list(edge_labels)
    if edge_features is not None:
        _fit("edge_features", len(edge_features), graph.edges, "edges")
        document["edge_features"] = [dict(features) for features in edge_features]
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise ValueError("a score or feature is inf or nan; expected numbers, or a score of -inf") from error


def from_json(text: str, file: str = "<json>", line: int = 1) -> LabelledGraph:
    """Read what `to_json` writes. Anything else is a `FormatError` that names `file` and the line.

    >>> from_json('{"goal": 1, "nodes": [[[]], [[0], [0, 0]]]}').graph
    Hypergraph(nodes=2, edges=3, goal=1)
    >>> from_json('{"goal": 1, "node": []}', "forest.json", 7)
    Traceback (most recent call last):
    treeglot.base.errors.FormatError: forest.json:7: 'node' is not a key; expected goal, nodes, ...
    """
    try:
        return _graph(_parse(text))
    except json.JSONDecodeError as error:
        problem = f"is not JSON: {error.msg} at column {error.colno}"
        raise FormatError(file, line + error.lineno - 1, problem) from None
    except RecursionError:
        raise FormatError(file, line, "is nested too deeply for a hypergraph") from None
    except ValueError as error:
        raise FormatError(file, line, str(error)) from None


def _parse(text: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = dict(pairs)
        if len(keys) < len(pairs):
            repeated = next(key for i, (key, _) in enumerate(pairs) if any(key == k for k, _ in pairs[:i]))
            raise ValueError(f"the key {repeated!r} is repeated")
        return keys

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON; expected a number, or null for -inf")

    document = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    if not isinstance(document, dict):
        raise ValueError(f"found {_kind(document)}; expected an object with the keys {' and '.join(REQUIRED)}")
    for key in document:
        if key not in REQUIRED and key not in OPTIONAL:
            raise ValueError(f"{key!r} is not a key; expected {', '.join(REQUIRED + OPTIONAL)}")
    for key in REQUIRED:
        if key not in document:
            raise ValueError(f"the key {key!r} is missing")
    return document


def _graph(document: dict[str, Any]) -> LabelledGraph:
    goal = None if document["goal"] is None else _node("goal", document["goal"])
    first_edge, first_tail, tails = [0], [0], []
    for v, node in enumerate(_list("nodes", document["nodes"])):
        for e, edge in enumerate(_list(f"nodes[{v}]", node)):
            place = f"nodes[{v}][{e}]"
            tails += [_node(place, tail) for tail in _list(place, edge)]
            first_tail.append(len(tails))
        first_edge.append(len(first_tail) - 1)
    graph = Hypergraph.from_arrays(
        np.array(first_edge, np.uint32), np.array(first_tail, np.uint32), np.array(tails, np.uint32), goal
    )
    return LabelledGraph(
        graph,
        _scores(document["scores"], graph.edges) if "scores" in document else None,
        _labels("node_labels", document["node_labels"], graph.nodes, "nodes") if "node_labels" in document else None,
        _labels("edge_labels", document["edge_labels"], graph.edges, "edges") if "edge_labels" in document else None,
        _features(document["edge_features"], graph.edges) if "edge_features" in document else None,
    )


def _scores(value: object, edges: int) -> Floats:
    scores = _list("scores", value)
    _fit("scores", len(scores), edges, "edges")
    for i, score in enumerate(scores):
        if score is not None and not (type(score) in (int, float) and abs(score) <= 1.7976931348623157e308):
            raise ValueError(f"scores[{i}]: found {_kind(score)}; expected a number, or null for -inf")
    return np.array([-math.inf if score is None else score for score in scores], dtype=np.float64)


def _features(value: object, edges: int) -> list[dict[str, float]]:
    features = _list("edge_features", value)
    _fit("edge_features", len(features), edges, "edges")
    for i, entry in enumerate(features):
        if not isinstance(entry, dict):
            raise ValueError(f"edge_features[{i}]: found {_kind(entry)}; expected an object")
        for name, number in entry.items():
            if not (type(number) in (int, float) and abs(number) <= 1.7976931348623157e308):
                raise ValueError(f"edge_features[{i}], {name!r}: found {_kind(number)}; expected a number")
    return [{name: float(number) for name, number in entry.items()} for entry in features]


def _labels(key: str, value: object, size: int, of: str) -> list[str]:
    labels = _list(key, value)
    _fit(key, len(labels), size, of)
    for i, label in enumerate(labels):
        if not isinstance(label, str):
            raise ValueError(f"{key}[{i}]: found {_kind(label)}; expected a string")
        if not label.isascii() and any("\ud800" <= character <= "\udfff" for character in label):
            raise ValueError(f"{key}[{i}] has half of a surrogate pair; expected Unicode text")
    return labels


def _list(key: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{key}: found {_kind(value)}; expected a list")
    return value


def _node(place: str, value: object) -> int:
    if type(value) is not int or not 0 <= value < NO_NODE:
        raise ValueError(f"{place}: found {_kind(value)}; expected the number of a node")
    return value


def _fit(key: str, found: int, wanted: int, of: str) -> None:
    if found != wanted:
        raise ValueError(f"{key} has {found} elements for {wanted} {of}")


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value) if abs(value) < 1e100 else "a number beyond all bounds"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"
