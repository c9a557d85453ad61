"""The README's Python examples are what they say."""

import doctest
from pathlib import Path

import treeglot
from treeglot.syntax import heads, to_dependency


def test_the_first_example() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    examples = doctest.DocTestParser().get_examples(readme)
    assert any("to_dependency" in example.source for example in examples)
    tree = treeglot.Tree.parse("(S (NP (NN Bush)) (VP (VBD held) (NP (DT a) (NN talk))))")
    [shown] = [example.want for example in examples if "to_brackets" in example.source]
    assert to_dependency(tree, heads.load("english")).to_brackets() == shown.strip()


def test_everything_promised_is_there() -> None:
    assert treeglot.lm.__name__ == "treeglot.lm"
    for name in treeglot.__all__:
        assert getattr(treeglot, name) is not None
