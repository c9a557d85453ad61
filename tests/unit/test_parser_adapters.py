"""Adapters to the parsers of other packages: UDPipe with a model trained here, the others (large) against stand-ins."""

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from treeglot import TreeglotError, UsageError
from treeglot._core import Conll, TagColumn, write_conll
from treeglot.cli import main
from treeglot.parse import Parser
from treeglot.parse.adapters import (
    ADAPTERS,
    BeneparParser,
    SpacyParser,
    StanzaParser,
    SuparParser,
    UdpipeParser,
    open_parser,
)
from treeglot.syntax import Dependency, Tree, read

SENTENCES = [["dogs", "bark"], [], ["go", "on", "!"]]
HEADS = {2: [2, 0], 3: [0, 1, 1]}  # as all packages but spaCy count: from 1, 0 for the root
EXPECTED = [[1, -1], [], [-1, 0, 0]]


class UdpipeError:
    message = ""

    def occurred(self) -> bool:
        return bool(self.message)


class UdpipeSentence:
    def __init__(self) -> None:
        self.words = [SimpleNamespace(form="<root>")]

    def addWord(self, form: str) -> None:  # noqa: N802 - theirs
        self.words.append(SimpleNamespace(form=form, head=-1, xpostag="", upostag=""))


class UdpipeModel:
    DEFAULT = ""

    def __init__(self, tagger: bool = True, parser: bool = True) -> None:
        self.tagger, self.parser = tagger, parser

    def tag(self, sentence: UdpipeSentence, options: str, error: UdpipeError) -> None:
        if not self.tagger:
            error.message = "No tagger defined for the UDPipe model!"
            return
        for word in sentence.words[1:]:
            word.upostag = "X"

    def parse(self, sentence: UdpipeSentence, options: str, error: UdpipeError) -> None:
        if not self.parser:
            error.message = "No parser defined for the UDPipe model!"
            return
        for word, head in zip(sentence.words[1:], HEADS[len(sentence.words) - 1], strict=True):
            word.head = head


def udpipe(**parts: bool) -> UdpipeParser:
    module = SimpleNamespace(Model=UdpipeModel, Sentence=UdpipeSentence, ProcessingError=UdpipeError)
    return UdpipeParser(module, UdpipeModel(**parts), "udpipe small")


def stanza() -> StanzaParser:
    def pipeline(sentences: list[list[str]]) -> Any:
        parsed = [
            SimpleNamespace(words=[SimpleNamespace(head=head, xpos=None, upos="X") for head in HEADS[len(words)]])
            for words in sentences
        ]
        return SimpleNamespace(sentences=parsed)

    return StanzaParser(pipeline, "stanza small")


def supar() -> SuparParser:
    def predict(sentences: list[list[str]], **_: object) -> Any:
        return [SimpleNamespace(arcs=HEADS[len(words)]) for words in sentences]

    return SuparParser(SimpleNamespace(predict=predict), "supar small")


def spacy(monkeypatch: pytest.MonkeyPatch) -> SpacyParser:
    class Doc(list[Any]):
        def __init__(self, vocab: object, words: list[str]) -> None:
            tokens = [SimpleNamespace(text=word, i=i, tag_="", pos_="X") for i, word in enumerate(words)]
            for token, head in zip(tokens, HEADS.get(len(words), []), strict=True):
                token.head = token if head == 0 else tokens[head - 1]
            super().__init__(tokens)

    tokens = ModuleType("spacy.tokens")
    tokens.Doc = Doc  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", ModuleType("spacy"))
    monkeypatch.setitem(sys.modules, "spacy.tokens", tokens)
    return SpacyParser(SimpleNamespace(vocab=None, pipe=lambda docs, batch_size: docs), "spacy small")


@pytest.mark.parametrize("name", ["udpipe", "spacy", "stanza", "supar"])
def test_each_gives_a_value_for_each_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser: Any = {"udpipe": udpipe, "stanza": stanza, "supar": supar, "spacy": lambda: spacy(monkeypatch)}[name]()
    assert isinstance(parser, Parser)
    assert parser.gives is Dependency and parser.name == f"{name} small"
    found = list(parser.parse(iter(SENTENCES)))
    assert [tree.words for tree in found] == SENTENCES
    assert [tree.heads.tolist() for tree in found] == EXPECTED
    assert found[0].tags == (None if name == "supar" else ["X", "X"])


class NltkTree(list[Any]):
    """As NLTK's: a list of children with a label."""

    def __init__(self, label: str, children: list[Any]) -> None:
        super().__init__(children)
        self._label = label

    def label(self) -> str:
        return self._label

    def leaves(self) -> list[str]:
        return [leaf for child in self for leaf in ([child] if isinstance(child, str) else child.leaves())]


def benepar() -> BeneparParser:
    def parse_sents(sentences: list[list[str]]) -> Any:
        for words in sentences:
            tags = [NltkTree("X", [word.replace("(", "-LRB-")]) for word in words]
            yield NltkTree("TOP", [NltkTree("S", [NltkTree("NP", tags[:1]), *tags[1:]])])

    return BeneparParser(SimpleNamespace(parse_sents=parse_sents), "benepar small")


def test_trees_of_benepar_have_the_words_that_were_given() -> None:
    parser = benepar()
    assert isinstance(parser, Parser)
    assert parser.gives is Tree and parser.name == "benepar small"
    found = list(parser.parse(iter([["dogs", "bark"], [], ["(", "on"], []])))
    trees = ["(TOP (S (NP (X dogs)) (X bark)))", "(())", "(TOP (S (NP (X -LRB-)) (X on)))", "(())"]
    assert [str(tree) for tree in found] == trees
    assert found[2].words == ["(", "on"]
    short = BeneparParser(SimpleNamespace(parse_sents=lambda _: [NltkTree("X", ["a"])]), "benepar small")
    with pytest.raises(TreeglotError, match="benepar small gave 1 leaves for 2 words: it must not split or join them"):
        list(short.parse([["a", "b"]]))


def test_many_sentences_go_through_in_order() -> None:
    sentences = [SENTENCES[i % 3] for i in range(200)]
    assert [tree.words for tree in stanza().parse(sentences)] == sentences
    assert list(stanza().parse([[], []])) == [Dependency([], [])] * 2


def test_a_model_without_a_tagger_or_parser() -> None:
    [tree] = udpipe(tagger=False).parse([["dogs", "bark"]])
    assert tree.tags is None
    with pytest.raises(TreeglotError, match="udpipe small: No parser defined for the UDPipe model!"):
        list(udpipe(parser=False).parse([["dogs", "bark"]]))


def test_words_may_not_be_split_and_odd_heads_are_missing() -> None:
    with pytest.raises(TreeglotError, match="supar small gave 3 heads for 2 words: it must not split or join them"):
        parser = SuparParser(SimpleNamespace(predict=lambda *_, **__: [SimpleNamespace(arcs=[0, 1, 1])]), "supar small")
        list(parser.parse([["dogs", "bark"]]))
    odd = SuparParser(SimpleNamespace(predict=lambda *_, **__: [SimpleNamespace(arcs=[1, 9, 0])]), "supar small")
    [tree] = odd.parse([["a", "b", "c"]])
    assert tree.heads.tolist() == [Dependency.NO_HEAD, Dependency.NO_HEAD, -1]


@pytest.mark.parametrize(
    ("name", "module"),
    [("udpipe", "ufal.udpipe"), ("spacy", "spacy"), ("stanza", "stanza"), ("supar", "supar"), ("benepar", "benepar")],
)
def test_a_package_that_is_not_there(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"^{module} is not installed: pip install treeglot\[{name}\]$"):
        open_parser(name, "model")
    assert name in ADAPTERS


def test_models_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("nothing of that name")

    none = SimpleNamespace(Model=SimpleNamespace(load=lambda path: None))
    monkeypatch.setitem(sys.modules, "ufal", ModuleType("ufal"))
    monkeypatch.setitem(sys.modules, "ufal.udpipe", none)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=refuse))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=refuse))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "supar", SimpleNamespace(Parser=SimpleNamespace(load=refuse)))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "benepar", SimpleNamespace(Parser=refuse))  # type: ignore[arg-type]
    for name, message in {
        "udpipe": "x is not a model of UDPipe, or cannot be read",
        "spacy": "x is no pipeline of spaCy that is here: nothing of that name",
        "stanza": "Stanza has no models for x here: nothing of that name",
        "supar": "SuPar cannot load x: nothing of that name",
        "benepar": "benepar cannot load x: nothing of that name",
    }.items():
        with pytest.raises(UsageError, match=message):
            open_parser(name, "x")
    blank = SimpleNamespace(load=lambda *_, **__: SimpleNamespace(pipe_names=["tagger"]))
    monkeypatch.setitem(sys.modules, "spacy", blank)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="x has no parser; its parts are tagger"):
        open_parser("spacy", "x")


# Words, heads that count from 0, tags: enough of them for a parser that knows these by heart.
TREEBANK = [
    ("the dog sees a cat", [1, 2, -1, 4, 2], "DT NN VBZ DT NN"),
    ("dogs bark", [1, -1], "NNS VBP"),
    ("a cat sees the dog .", [1, 2, -1, 4, 2, 2], "DT NN VBZ DT NN ."),
    ("the old dog barks", [2, 2, 3, -1], "DT JJ NN VBZ"),
]
TAGGER = (
    "models=1;templates_1=tagger;guesser_suffix_rules_1=4;guesser_enrich_dictionary_1=4;use_lemma_1=0;use_xpostag_1=1;"
    "use_feats_1=0;provide_lemma_1=0;provide_xpostag_1=1;provide_feats_1=0;iterations_1=4"
)
PARSER = (
    "iterations=20;embedding_upostag=8;embedding_feats=0;embedding_xpostag=0;embedding_form=8;embedding_lemma=0;"
    "embedding_deprel=4;learning_rate=0.1;learning_rate_final=0.01;l2=0.1;hidden_layer=20;batch_size=1;"
    "transition_system=projective;transition_oracle=static;structured_interval=0"
)


@pytest.mark.parametrize("name", ["spacy", "stanza", "supar", "benepar"])
def test_the_command_parses_with_each(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {"stanza": stanza, "supar": supar, "benepar": benepar, "spacy": lambda: spacy(monkeypatch)}[name]()
    monkeypatch.setitem(ADAPTERS, name, lambda model: made)
    (tmp_path / "in.txt").write_text("dogs bark\n")
    assert main(["parse", f"{name}:small", str(tmp_path / "in.txt")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("(TOP (S (NP (X dogs)) (X bark)))" if name == "benepar" else "1\tdogs\t")


def test_udpipe_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model of UDPipe, trained here on a handful of sentences (a second), through the adapter."""
    from ufal import udpipe

    trees = [
        Dependency(words.split(), heads, tags.split(), ["root" if head < 0 else "dep" for head in heads])
        for words, heads, tags in TREEBANK
    ]
    text = "".join(write_conll(tree, Conll.u, TagColumn.fine) for tree in trees * 5)
    reader, sentences = udpipe.InputFormat.newConlluInputFormat(), udpipe.Sentences()
    error, sentence = udpipe.ProcessingError(), udpipe.Sentence()
    reader.setText(text)
    while reader.nextSentence(sentence, error):
        sentences.push_back(sentence)
        sentence = udpipe.Sentence()
    model = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), "none", TAGGER, PARSER, error)
    assert not error.occurred(), error.message
    (tmp_path / "small.udpipe").write_bytes(model)
    parser = open_parser("udpipe", str(tmp_path / "small.udpipe"))
    assert parser.name == "udpipe small.udpipe"
    known = [tree.words for tree in trees]
    *found, empty, unknown = parser.parse([*known, [], ["quite", "new", "words", "(", "a-b", "…"]])
    assert [tree.words for tree in found] == known
    assert [tree.heads.tolist() for tree in found] == [tree.heads.tolist() for tree in trees]
    assert [tree.tags for tree in found] == [tree.tags for tree in trees]
    assert empty == Dependency([], [])
    assert unknown.words == ["quite", "new", "words", "(", "a-b", "…"] and unknown.is_tree()
    (tmp_path / "in.txt").write_text("the dog sees a cat\ndogs bark\n")
    command = ["parse", f"udpipe:{tmp_path / 'small.udpipe'}", str(tmp_path / "in.txt")]
    assert main([*command, "--out", str(tmp_path / "out.conllu")]) == 0
    first, second = read(tmp_path / "out.conllu")
    assert (first.heads.tolist(), second.words, second.heads.tolist()) == ([1, 2, -1, 4, 2], ["dogs", "bark"], [1, -1])
    assert main([*command, "--out", str(tmp_path / "out.tree")]) == 2
    assert "udpipe small.udpipe gives dependencies; the format is brackets, expected" in capsys.readouterr().err
    assert main([*command, "--kbest", "3"]) == 2
    assert "is another package's parser; expected --out and --to alone" in capsys.readouterr().err
    (tmp_path / "not.udpipe").write_bytes(b"no model")
    with pytest.raises(UsageError, match=r"not\.udpipe is not a model of UDPipe, or cannot be read"):
        open_parser("udpipe", str(tmp_path / "not.udpipe"))


@pytest.mark.parametrize("before", [None, "0"])
@pytest.mark.parametrize("name", ["supar", "benepar"])
def test_pytorch_reads_whole_objects(name: str, before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Since 2.6 it refuses the files of these packages unless it is told to read them; afterwards all is as before."""
    variable = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
    monkeypatch.delenv(variable, raising=False)
    if before is not None:
        monkeypatch.setenv(variable, before)

    def load(model: str) -> str:
        assert os.environ[variable] == "1"
        if model == "bad":
            raise ValueError(model)
        return model

    parser = SimpleNamespace(load=load) if name == "supar" else load
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(Parser=parser))  # type: ignore[arg-type]
    assert open_parser(name, "good").model == "good"  # type: ignore[attr-defined]
    assert os.environ.get(variable) == before
    with pytest.raises(UsageError, match="bad"):
        open_parser(name, "bad")
    assert os.environ.get(variable) == before
