"""Tree-to-tree models from files: training, translating, analyses, bad trees."""

import json
import random
from dataclasses import replace

import pytest

from treeglot import FormatError, UsageError
from treeglot.cli.app import run
from treeglot.corpus import Corpus
from treeglot.decode import SearchOptions
from treeglot.decode.weights import read_weights, write_weights
from treeglot.models import load, train
from treeglot.models.kinds import find_kind
from treeglot.rules import open_table
from treeglot.rules.table import CompileOptions
from treeglot.tune.kbest import KBest

KINDS = ["t2t-exact", "t2t-fuzzy", "t2t-fuzzy-nested", "samt"]
NOUNS = {"Haus": "house", "Buch": "book", "Kind": "child", "Baum": "tree"}
VERBS = {"schläft": "sleeps", "brennt": "burns"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A toy language: determiner and noun change places, the verb stays."""
    folder = tmp_path_factory.mktemp("corpus")
    draw = random.Random(1)
    columns: dict[str, list[str]] = {name: [] for name in ("f", "e", "align", "f.tree", "e.tree")}
    for _ in range(60):
        noun, verb = draw.choice(list(NOUNS)), draw.choice(list(VERBS))
        columns["f"].append(f"{noun} das {verb} heute")
        columns["e"].append(f"the {NOUNS[noun]} {VERBS[verb]} today")
        columns["align"].append("0-1 1-0 2-2 3-3")
        columns["f.tree"].append(f"(S (NP (NN {noun}) (DT das)) (VP (VV {verb})) (ADVP heute))")
        columns["e.tree"].append(f"(S (NP (DT The) (NN {NOUNS[noun]})) (VP (VBZ {VERBS[verb]})) (ADVP today))")
    columns["e.tree"][7] = "(())"  # no parse
    for name, lines in columns.items():
        (folder / f"train.{name}").write_text("\n".join(lines) + "\n")
    return folder


def files(folder):
    return Corpus(
        source=folder / "train.f",
        target=folder / "train.e",
        alignments=folder / "train.align",
        source_trees=folder / "train.f.tree",
        target_trees=folder / "train.e.tree",
    )


@pytest.fixture(scope="module")
def models(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = {}
    for kind in KINDS:
        options = find_kind(kind).options(lm_order=2)
        with pytest.warns(UserWarning):  # too little text for the language model's discounts
            made[kind] = train(kind, files(corpus), folder / kind, options)
    with pytest.warns(UserWarning):
        text = replace(files(corpus), source_trees=None, target_trees=None)
        made["hiero"] = train("hiero", text, folder / "hiero", find_kind("hiero").options(lm_order=2))
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_translates(models, kind):
    model = load(models[kind].directory)
    assert model.kind == kind
    assert model.file.search.span_limit == 20
    found = model.translate("Kind das brennt Unbekannt")
    assert found.text == "the child burns Unbekannt"
    if kind != "samt":
        assert any(name.startswith("root[") for name in found.features)
    assert any(name.startswith(("shape=", "pair=", "count_bin=")) for name in found.features)


def test_fuzzy_and_hiero_have_the_same_rules(models):
    def rules(model):
        table = model.translator.table
        words, targets = table.source_words, table.target_words
        found = set()
        for number in range(len(table)):
            _, source, target, features, _ = table.rule(number)
            side = tuple("X" if s >> 31 else words[s] for s in source)
            found.add((side, tuple(targets[t] if t >= 0 else t for t in target), tuple(features[:4])))
        return found

    assert rules(models["t2t-fuzzy"]) == rules(models["hiero"])
    assert len(models["t2t-fuzzy-nested"].translator.table) < len(models["hiero"].translator.table)


def test_without_syntax_weights_fuzzy_scores_are_hieros(models, corpus):
    hiero = models["hiero"]
    exact = hiero.with_search(SearchOptions(pop_limit=0, span_limit=20))
    fuzzy = models["t2t-fuzzy"].with_weights(hiero.weights).with_search(exact.translator.options)
    lines = sorted(set((corpus / "train.f").read_text().splitlines()))
    for ours, theirs in zip(fuzzy.translate_batch(lines), exact.translate_batch(lines), strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=1e-6)


def test_hard_labels_are_in_the_table(models):
    assert "NP~NP" in models["t2t-exact"].translator.table.labels
    assert "NP" in models["samt"].translator.table.labels
    assert models["samt"].translator.table.notes(0)[0] == []


def test_samt_needs_no_source_trees(models, corpus, tmp_path):
    text = replace(files(corpus), source_trees=None)
    said = []
    with pytest.warns(UserWarning):
        train("samt", text, tmp_path / "samt", find_kind("samt").options(lm_order=2), report=said.append)
    assert "0 source and 1 target sentences have no tree" in said
    for name in ("rules.table", "extraction.json"):
        assert (tmp_path / "samt" / name).read_bytes() == (models["samt"].directory / name).read_bytes()
    with pytest.raises(UsageError, match="a t2t-fuzzy model is trained with --source-trees; none was given"):
        train("t2t-fuzzy", text, tmp_path / "fuzzy")


def test_a_tree_with_other_words_is_an_error_that_says_where(corpus, tmp_path):
    trees = (corpus / "train.e.tree").read_text().replace("(DT The)", "(DT This)", 1)
    (tmp_path / "other.tree").write_text(trees)
    other = replace(files(corpus), target_trees=tmp_path / "other.tree")
    with pytest.raises(FormatError, match=r"other.tree: tree 1: word 1 is 'This'; in line 1 of .*train.e it is 'the'"):
        train("t2t-fuzzy", other, tmp_path / "strict")


@pytest.mark.parametrize("kind", KINDS)
def test_trees_that_are_missing_or_left_out_are_counted(corpus, tmp_path, kind):
    said = []
    options = find_kind(kind).options(skip_bad=True, lm_order=2)
    for name in ("f", "e", "align", "f.tree", "e.tree"):
        text = (corpus / f"train.{name}").read_text()
        (tmp_path / f"train.{name}").write_text(text.replace("(DT The)", "(DT This)", 1))
    with pytest.warns(UserWarning):
        train(kind, files(tmp_path), tmp_path / "model", options, report=said.append)
    assert "0 source and 1 target sentences have no tree" in said
    assert "1 target parses were left out: their words are not the text's" in said
    counts = json.loads((tmp_path / "model/extraction.json").read_text())["counts"]
    seen = {"source_missing": 0, "target_missing": 1, "source_mismatched": 0, "target_mismatched": 1}
    assert counts.items() >= seen.items()
    if kind == "t2t-exact":
        assert counts["unparsed"] == 2


def test_a_blank_line_is_no_tree(corpus, tmp_path):
    trees = (corpus / "train.e.tree").read_text().splitlines()
    words = [line.split() for line in (corpus / "train.e").read_text().splitlines()]
    other = next(n for n in range(1, 60) if n != 7 and words[n + 1] != words[n])
    trees[other] = ""
    (tmp_path / "blank.tree").write_text("\n".join(trees) + "\n")
    blank = replace(files(corpus), target_trees=tmp_path / "blank.tree")
    place = rf"blank.tree: tree {other + 1}: .* in line {other + 1} of .*train.e .*"
    hint = r"; blank lines are no records: \(\(\)\) stands for a missing tree$"
    with pytest.raises(FormatError, match=place + hint):
        train("t2t-fuzzy", blank, tmp_path / "model", find_kind("t2t-fuzzy").options())
    counted = (
        r"blank.tree: has 59 records, fewer than .*; blank lines are no records: \(\(\)\) stands for a missing tree$"
    )
    with pytest.raises(FormatError, match=counted):
        train("t2t-fuzzy", blank, tmp_path / "model", find_kind("t2t-fuzzy").options(skip_bad=True))


def test_options_say_which_features_there_are(corpus, tmp_path):
    plain = find_kind("t2t-fuzzy").options(lm_order=2, compile=CompileOptions())
    with pytest.warns(UserWarning):
        train("t2t-fuzzy", files(corpus), tmp_path / "plain", plain)
    assert len(open_table(tmp_path / "plain/rules.table").features) == 4


def test_analyse_rewrites(models, corpus, tmp_path, capfd):
    model = str(models["t2t-fuzzy"].directory)
    weights = str(models["t2t-fuzzy"].directory / "weights.txt")
    arguments = ["analyse", "rewrites", model, "--input", str(corpus / "train.f")]
    assert run([*arguments, "--weights", f"a={weights}", "--weights", f"b={weights}"]) == 0
    text = capfd.readouterr().out
    assert text.splitlines()[0].split() == ["side", "kind,", "%", "a", "b"]
    plot = tmp_path / "rewrites.html"
    assert run([*arguments, "--json", "--plot", str(plot)]) == 0
    [system] = json.loads(capfd.readouterr().out)
    assert system["sentences"] == 60
    assert system["glue"] >= 60
    assert sum(system["rewrites"]["source"].values()) == system["match"]["source"] + system["mismatch"]["source"]
    assert "<svg" in plot.read_text()
    assert run(["analyse", "rewrites", str(models["hiero"].directory), "--input", str(corpus / "train.f")]) == 2
    assert "is a hiero model: its derivations have no labels" in capfd.readouterr().err


def test_weights_whose_path_has_an_equals_sign(models, corpus, tmp_path, capfd, monkeypatch):
    model = models["t2t-fuzzy"].directory
    (tmp_path / "c=1").mkdir()
    for name in ("c=1/weights", "c=2"):
        (tmp_path / name).write_bytes((model / "weights.txt").read_bytes())
    monkeypatch.chdir(tmp_path)
    arguments = ["analyse", "rewrites", str(model), "--input", str(corpus / "train.f"), "--json"]
    given = ["c=1/weights", "c=2", "tuned=c=2", str(tmp_path / "c=1/weights")]
    assert run([*arguments, *(part for name in given for part in ("--weights", name))]) == 0
    names = [system["system"] for system in json.loads(capfd.readouterr().out)]
    assert names == ["c=1/weights", "c=2", "tuned", str(tmp_path / "c=1/weights")]
    assert run([*arguments, "--weights", f"{tmp_path}/c=3/weights"]) == 1
    assert f"{tmp_path}/c=3/weights" in capfd.readouterr().err


def test_weights_of_a_family_need_its_separator(models):
    model = models["t2t-fuzzy"]
    odd = {"subst_f[NP->VP]": 1.0, "subst_e[]": 1.0, "root[NP]": 1.0, "subst_f[": 1.0}
    rare = {"subst_f[NP→NEVER]": 1.0, "root[NEVER,NP]": 1.0}
    assert sorted(model.with_weights(model.weights | odd | rare).translator.unknown_weights) == sorted(odd)


def test_analyse_phrases(corpus, tmp_path, capfd):
    arguments = ["analyse", "phrases", "--first", "7", "--plot", str(tmp_path / "phrases.svg")]
    for name, file in (("source", "f"), ("target", "e"), ("alignments", "align")):
        arguments += [f"--{name}", str(corpus / f"train.{file}")]
    arguments += ["--source-trees", str(corpus / "train.f.tree"), "--target-trees", str(corpus / "train.e.tree")]
    assert run(arguments) == 0
    assert capfd.readouterr().out.splitlines()[1:] == [
        "string-to-string            56            114.3",
        "max nested                  49            100.0",
        "tree-to-string              42             85.7",
        "string-to-tree              42             85.7",
        "tree-to-tree                42             85.7",
    ]
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["pairs"] == 7
    assert "<svg" in (tmp_path / "phrases.svg").read_text()
    links = tmp_path / "bad.align"
    links.write_text("0-0\n0-99\n" + "0-0\n" * 58)
    assert run([str(links) if given == str(corpus / "train.align") else given for given in arguments]) == 1
    assert f"error: {links}:2: link 0-99" in capfd.readouterr().err


def test_labels_with_anything_in_them(corpus, tmp_path):
    """Labels that look like separators of every format on the way: rules, tables, k-best lists, weights."""
    odd = {"NP": "N|||P", "VP": "V/P", "ADVP": "A\\D·V", "S": "[S,1]", "NN": "N~N", "DT": "D%T", "VV": "X"}
    for name in ("f", "e", "align", "f.tree", "e.tree"):
        text = (corpus / f"train.{name}").read_text()
        for old, new in odd.items() if name.endswith("tree") else ():
            text = text.replace(f"({old} ", f"({new} ")
        (tmp_path / f"train.{name}").write_text(text)
    options = find_kind("t2t-fuzzy").options(lm_order=2)
    with pytest.warns(UserWarning):
        model = train("t2t-fuzzy", files(tmp_path), tmp_path / "model", options)
    found = model.translate("Kind das brennt heute")
    assert found.text == "the child burns today"
    syntax = {name: 0.25 for name in found.features if name.startswith(("subst", "root"))}
    assert syntax
    assert not any(c in name for name in syntax for c in " |~") and all(name.count("[") == 1 for name in syntax)
    write_weights(tmp_path / "weights.txt", syntax)
    assert read_weights(tmp_path / "weights.txt") == syntax
    again = model.with_weights(model.weights | syntax)
    assert again.translator.unknown_weights == []
    assert again.translate("Kind das brennt heute").score > found.score
    kbest = tmp_path / "kbest"
    assert run(["translate", str(tmp_path / "model"), "--kbest", "5", "-o", str(kbest), str(corpus / "train.f")]) == 0
    read = KBest.read(kbest, 60)
    fired = {name for t in model.translate_batch((corpus / "train.f").read_text().splitlines()) for name in t.features}
    assert fired <= set(read.names)
