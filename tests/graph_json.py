"""Search forests that were written as JSON, read back."""

import json
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeglot.graph import Hypergraph


class Found(NamedTuple):
    graph: Hypergraph
    scores: npt.NDArray[np.float64]
    node_labels: list[str]
    edge_labels: list[str]
    edge_features: list[dict[str, float]]


def from_json(line: str) -> Found:
    found = json.loads(line)
    edges = [edge for node in found["nodes"] for edge in node]
    first_edge, first_tail = (np.cumsum([0, *map(len, lists)]).tolist() for lists in (found["nodes"], edges))
    graph = Hypergraph.from_arrays(first_edge, first_tail, [tail for edge in edges for tail in edge], found["goal"])
    scores = np.array([-math.inf if score is None else score for score in found["scores"]])
    return Found(graph, scores, found["node_labels"], found["edge_labels"], found["edge_features"])
