import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import scored_hypergraphs

from treeglot.base.errors import FormatError
from treeglot.graph import Hypergraph
from treeglot.graph.json import from_json, to_json

GOOD = (
    '{"goal":1,"nodes":[[[]],[[0],[0,0]]],"scores":[-0.5,null,1],"node_labels":["鸟","NP"],"edge_labels":["","b","c"]}'
)


def test_reads_what_is_there() -> None:
    read = from_json(GOOD)
    assert read.graph == Hypergraph.from_arrays([0, 1, 3], [0, 0, 1, 3], [0, 0, 0], 1)
    assert read.scores.tolist() == [-0.5, float("-inf"), 1.0]
    assert read.node_labels == ["鸟", "NP"]
    assert read.edge_labels == ["", "b", "c"]
    assert to_json(read.graph, read.scores, read.node_labels, read.edge_labels) == GOOD.replace(",1]", ",1.0]")
    bare = from_json('{"nodes": [], "goal": null}')
    assert (bare.graph.nodes, bare.graph.goal, bare.scores, bare.node_labels) == (0, None, None, None)


@given(scored_hypergraphs(), st.data())
def test_round_trip(graph_scores: tuple[Hypergraph, np.ndarray], data: st.DataObject) -> None:
    graph, scores = graph_scores
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    node_labels = data.draw(st.none() | st.lists(text, min_size=graph.nodes, max_size=graph.nodes))
    edge_labels = data.draw(st.none() | st.lists(text, min_size=graph.edges, max_size=graph.edges))
    value = st.floats(allow_nan=False, allow_infinity=False)
    entries = st.lists(st.dictionaries(text, value, max_size=2), min_size=graph.edges, max_size=graph.edges)
    edge_features = data.draw(st.none() | entries)
    line = to_json(graph, scores, node_labels, edge_labels, edge_features)
    assert "\n" not in line
    read = from_json(line)
    assert read.graph == graph
    assert read.scores.tobytes() == scores.tobytes()
    assert (read.node_labels, read.edge_labels, read.edge_features) == (node_labels, edge_labels, edge_features)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json:3: is not JSON: Expecting value at column 1"),
        ('{"goal":1,\n"nodes":}', "f.json:4: is not JSON: Expecting value at column 9"),
        ("{} {}", "f.json:3: is not JSON: Extra data at column 4"),
        ("[]", "f.json:3: found a list; expected an object with the keys goal and nodes"),
        ("null", "f.json:3: found null; expected an object with the keys goal and nodes"),
        ("[" * 100_000, "f.json:3: is nested too deeply for a hypergraph"),
        ('{"goal":null}', "f.json:3: the key 'nodes' is missing"),
        ('{"nodes":[]}', "f.json:3: the key 'goal' is missing"),
        ('{"goal":null,"goal":0,"nodes":[]}', "f.json:3: the key 'goal' is repeated"),
        (
            '{"goal":null,"nodes":[],"weights":[]}',
            "f.json:3: 'weights' is not a key; expected goal, nodes, scores, node_labels, edge_labels, edge_features",
        ),
        ('{"goal":0,"nodes":[]}', "f.json:3: the goal is node 0 of a graph with 0 nodes"),
        ('{"goal":true,"nodes":[[]]}', "f.json:3: goal: found true; expected the number of a node"),
        ('{"goal":-1,"nodes":[[]]}', "f.json:3: goal: found -1; expected the number of a node"),
        ('{"goal":0.0,"nodes":[[]]}', "f.json:3: goal: found 0.0; expected the number of a node"),
        (
            '{"goal":1e999,"nodes":[[]]}',
            "f.json:3: goal: found a number beyond all bounds; expected the number of a node",
        ),
        ('{"goal":null,"nodes":{}}', "f.json:3: nodes: found an object; expected a list"),
        ('{"goal":null,"nodes":[0]}', "f.json:3: nodes[0]: found 0; expected a list"),
        ('{"goal":null,"nodes":[[[]],["0"]]}', "f.json:3: nodes[1][0]: found a string; expected a list"),
        (
            '{"goal":null,"nodes":[[[]],[["0"]]]}',
            "f.json:3: nodes[1][0]: found a string; expected the number of a node",
        ),
        (
            '{"goal":null,"nodes":[[[]],[[1]]]}',
            "f.json:3: edge into node 1 has tail 1: tails must be built before heads",
        ),
        ('{"goal":0,"nodes":[[[]]],"scores":[]}', "f.json:3: scores has 0 elements for 1 edges"),
        (
            '{"goal":0,"nodes":[[[]]],"scores":[NaN]}',
            "f.json:3: NaN is not JSON; expected a number, or null for -inf",
        ),
        (
            '{"goal":0,"nodes":[[[]]],"scores":["0"]}',
            "f.json:3: scores[0]: found a string; expected a number, or null for -inf",
        ),
        (
            '{"goal":0,"nodes":[[[]]],"scores":[1e999]}',
            "f.json:3: scores[0]: found a number beyond all bounds; expected a number, or null for -inf",
        ),
        ('{"goal":0,"nodes":[[[]]],"node_labels":"a"}', "f.json:3: node_labels: found a string; expected a list"),
        ('{"goal":0,"nodes":[[[]]],"node_labels":["a","b"]}', "f.json:3: node_labels has 2 elements for 1 nodes"),
        ('{"goal":0,"nodes":[[[]]],"edge_features":[7]}', "f.json:3: edge_features[0]: found 7; expected an object"),
        (
            '{"goal":0,"nodes":[[[]]],"edge_features":[{"lm":true}]}',
            "f.json:3: edge_features[0], 'lm': found true; expected a number",
        ),
        ('{"goal":0,"nodes":[[[]]],"edge_features":[]}', "f.json:3: edge_features has 0 elements for 1 edges"),
        ('{"goal":0,"nodes":[[[]]],"edge_labels":[7]}', "f.json:3: edge_labels[0]: found 7; expected a string"),
        (
            '{"goal":0,"nodes":[[[]]],"edge_labels":["\\ud800"]}',
            "f.json:3: edge_labels[0] has half of a surrogate pair; expected Unicode text",
        ),
    ],
)
def test_bad_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        from_json(text, "f.json", 3)
    assert str(error.value) == message


def test_numbers_of_any_length_are_refused() -> None:
    with pytest.raises(FormatError, match=r"^<json>:1: "):
        from_json('{"goal":' + "9" * 10_000 + ',"nodes":[]}')


def test_mutated_json_is_a_graph_or_a_format_error() -> None:
    source = random.Random(5)
    read = 0
    for _ in range(4000):
        text = list(GOOD)
        for _ in range(source.randint(1, 3)):
            place = source.randrange(len(text))
            match source.randrange(3):
                case 0:
                    text[place] = source.choice('[]{},:"0123456789-.enul\\ ')
                case 1:
                    del text[place]
                case _:
                    text.insert(place, source.choice('[]{},:"0123456789-.enul\\ '))
        try:
            from_json("".join(text), "fuzz", 9)
            read += 1
        except FormatError as error:
            assert str(error).startswith("fuzz:9: ")
            assert error.line == 9
    assert 0 < read < 4000


def test_writing_refuses_what_reading_would() -> None:
    graph = from_json(GOOD).graph
    with pytest.raises(ValueError, match=r"^a score or feature is inf or nan; expected numbers, or a score of -inf$"):
        to_json(graph, [0.0, float("nan"), 0.0])
    with pytest.raises(ValueError, match=r"^scores has 1 elements for 3 edges$"):
        to_json(graph, [0.0])
    with pytest.raises(ValueError, match=r"^node_labels has 1 elements for 2 nodes$"):
        to_json(graph, node_labels=["a"])
    with pytest.raises(ValueError, match=r"^edge_labels has 1 elements for 3 edges$"):
        to_json(graph, edge_labels=["a"])


def test_it_is_json_for_everyone() -> None:
    assert json.loads(GOOD)["nodes"][1] == [[0], [0, 0]]
