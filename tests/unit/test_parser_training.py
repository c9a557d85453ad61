"""Training from files: cleaning, odd trees, resuming, threads, the commands."""

from itertools import pairwise
from pathlib import Path

import pytest

from treeglot._core import SignatureKind, Trainer, clean_tree
from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.lm.classes import WordClasses
from treeglot.parse import ParserTraining, load_parser, train_parser, treebank
from treeglot.parse.brackets import compare
from treeglot.parse.kbest import read_tree_lists
from treeglot.parse.parser import GrammarParser
from treeglot.parse.train import train_in
from treeglot.sample import read_pairs, split
from treeglot.syntax import Tree, write
from treeglot.syntax.formats import read_forests, read_trees

SAMPLE = split(read_pairs(120))
TREES = [pair.source_tree for pair in SAMPLE["train"]]
QUICK = ParserTraining(cycles=2, split_iterations=4, merge_iterations=2, smooth_iterations=1, signature="chinese")


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        ("(S (NP-SBJ-1 (PRP I)) (VP=2 (VB go)))", "(S (NP (PRP I)) (VP (VB go)))"),
        ("(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))"),
        ("(NP (NP (NN a)) (SBAR (-NONE- 0) (S (-NONE- *T*))))", "(NP (NN a))"),
        ("(NP (-LRB- -LRB-) (NN a) (PRT|ADVP (RP up)))", "(NP (-LRB- -LRB-) (NN a) (PRT|ADVP (RP up)))"),
        ("(S (-NONE- *))", "(())"),
    ],
)
def test_cleaning(tree: str, wanted: str) -> None:
    assert str(clean_tree(Tree.parse(tree))) == wanted


def test_odd_trees_are_named() -> None:
    found = [
        Tree.parse("(S (NP (PRP I)) (VP (VB go)))"),
        Tree.parse("(S (NP I) go)"),
        None,
        Tree(),
        Tree.parse("(S (VP (S (NP (PRP I)) (VP (VB go)))))"),
    ]
    bank, report = treebank(found)
    assert len(bank) == report.trees == 2
    assert report.problems == ("tree 2: the word 'go' has no tag of its own", "tree 4: an empty tree")
    assert (report.unary_cycles, report.first_cycle) == (1, "S > VP > S")


def test_labels_remember_sisters_and_ancestors() -> None:
    tree = Tree.parse("(S (NP (A a) (B b) (A a) (B b)) (VP (A a)))")
    bank, _ = treebank([tree], ParserTraining(horizontal=1, vertical=2, root="ROOT"))
    labels = train_parser(bank, ParserTraining(cycles=0)).labels
    assert labels == ["ROOT", "A", "B", "NP^S", "@NP^S|B", "@NP^S|A", "VP^S", "S^ROOT"]
    parser = GrammarParser(train_parser(bank, ParserTraining(cycles=0)))
    assert [str(p.value) for p in parser.trees([tree.words])] == [str(tree)]


def test_trees_with_and_without_the_root_have_the_same_ancestors() -> None:
    some = [Tree.parse("(ROOT (S (NP (A a)) (A a)))"), Tree.parse("(S (NP (A a)) (A a))")]
    for vertical in (2, 3):
        options = ParserTraining(cycles=0, vertical=vertical)
        grammar = train_parser(treebank(some, options)[0], options)
        assert len(grammar.labels) == 4
        (parsed,) = GrammarParser(grammar).forests([["a", "a"]])
        assert [str(tree) for _, tree in parsed.value.kbest(9)] == ["(ROOT (S (NP (A a)) (A a)))"]


def test_a_root_that_all_trees_share_is_the_root() -> None:
    one, other = Tree.parse("(TOP (S (A a)))"), Tree.parse("(TOP (X (A a)))")
    assert train_parser(treebank([one, other])[0], ParserTraining(cycles=0)).labels == ["TOP", "A", "S", "X"]
    inside = Tree.parse("(S (TOP (A a)))")
    assert train_parser(treebank([one, inside])[0], ParserTraining(cycles=0)).labels[0] == "ROOT"


def test_threads_give_the_same_bytes() -> None:
    bank, _ = treebank(TREES, QUICK)
    states = []
    for threads in (1, 2):
        trainer = Trainer(bank, SignatureKind.chinese)
        trainer.split(1)
        for _ in range(3):
            trainer.em(threads)
        trainer.merge(0.5, threads)
        trainer.finish_level(threads)
        states.append(trainer.state())
    assert states[0] == states[1]


def test_words_are_smoothed_over_the_states_of_a_tag() -> None:
    bank, _ = treebank(TREES, QUICK)
    found = []
    for part in (0.0, 0.25):
        trainer = Trainer(bank, SignatureKind.chinese)
        trainer.finish_level()
        trainer.split(1)
        for _ in range(5):
            trainer.em(1)
        trainer.finish_level(1, 0.0, part)
        found.append(lexicon(trainer.grammar.texts(1)[2]))
    raw, smooth = found
    assert raw.keys() == smooth.keys()
    assert any(min(scores) < 0.95 * max(scores) for scores in raw.values())
    for key, scores in raw.items():
        mean = sum(scores) / len(scores)
        assert smooth[key] == pytest.approx([0.75 * score + 0.25 * mean for score in scores])


def test_smoothing_reaches_the_model() -> None:
    bank, _ = treebank(TREES, QUICK)
    all_the_same = train_parser(bank, ParserTraining(**{**vars(QUICK), "cycles": 1, "smooth_lexicon": 1.0}))
    assert all(max(p) == pytest.approx(min(p)) for p in lexicon(all_the_same.texts(1)[2]).values())


def test_tags_of_one_state_have_nothing_to_smooth() -> None:
    bank, _ = treebank(TREES, QUICK)
    raw, smooth = (Trainer(bank, SignatureKind.chinese) for _ in range(2))
    raw.finish_level(1, 0.0, 0.0)
    smooth.finish_level(1, 0.0, 0.1)
    assert raw.grammar.texts(0) == smooth.grammar.texts(0)


def lexicon(text: bytes) -> dict[str, list[float]]:
    found = (line.rstrip("]").split(" [") for line in text.decode().splitlines())
    return {name: [float(score) for score in scores.split(", ")] for name, scores in found}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    bank, _ = treebank(TREES, QUICK)
    train_in(tmp_path / "whole", bank, QUICK)

    class KilledError(Exception):
        pass

    for stop in ("cycle 1, merge", "cycle 2, split", "cycle 2, smooth"):

        def kill(step: str, done: int, total: int, log_likelihood: float, stop: str = stop) -> None:
            if step == stop:
                raise KilledError

        with pytest.raises(KilledError):
            train_in(tmp_path / "again", bank, QUICK, kill)
    seen = []
    train_in(tmp_path / "again", bank, QUICK, lambda step, *_: seen.append(step))
    assert seen == ["cycle 2, smooth"]
    assert content(tmp_path / "again") == content(tmp_path / "whole")
    # More cycles go on from where fewer ended.
    fewer = ParserTraining(**{**vars(QUICK), "cycles": 1})
    train_in(tmp_path / "fewer", bank, fewer)
    train_in(tmp_path / "fewer", bank, QUICK)
    assert content(tmp_path / "fewer") == content(tmp_path / "whole")


def test_other_trees_options_and_damaged_states_are_refused(tmp_path: Path) -> None:
    quick = ParserTraining(**{**vars(QUICK), "cycles": 0})
    bank, _ = treebank(TREES, quick)
    train_in(tmp_path, bank, quick)
    with pytest.raises(UsageError, match=r"training was begun with other options: .*seed=1.*; now .*seed=2"):
        train_in(tmp_path, bank, ParserTraining(**{**vars(quick), "seed": 2}))
    other, _ = treebank(TREES[1:], quick)
    with pytest.raises(FormatError, match="is that of other trees, options or word classes; remove it to begin again"):
        train_in(tmp_path, other, quick)
    path = tmp_path / "training.state"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError, match="the saved state of training is damaged"):
        train_in(tmp_path, bank, quick)
    with pytest.raises(UsageError, match="cycles is 7; expected 0 to 6"):
        ParserTraining(cycles=7)


# Nouns and verbs look alike: only their classes tell which of them a new word is.
NOUNS, VERBS = ("cat", "dog", "pig"), ("sit", "run", "nap")
CLASSED = [Tree.parse(f"(S (NP (DT the) (NN {noun})) (VP (VB {verb})))") for noun in NOUNS for verb in VERBS]
CLASSES = WordClasses([*NOUNS, "fox", *VERBS, "bow", "odd"], [3] * 4 + [8] * 4 + [9])


def test_a_new_word_gets_the_tags_of_its_class(tmp_path: Path) -> None:
    options = ParserTraining(cycles=1)
    bank, _ = treebank(CLASSED, options)
    grammar = train_in(tmp_path, bank, options, classes=CLASSES)
    assert [grammar.lookup(word, 1) for word in ("fox", "bow", "odd", "zap")] == [
        "UNK-LC/3",
        "UNK-LC/8",
        "UNK-LC",
        "UNK-LC",
    ]
    parser = load_parser(tmp_path)
    assert parser.grammar.texts(1) == grammar.texts(1)
    assert parser.grammar.lookup("bow", 1) == "UNK-LC/8"
    rows = lexicon(grammar.texts(0)[2])
    assert rows["NN UNK-LC/3"] > rows["NN UNK-LC"] > rows["NN UNK-LC/8"]
    (parsed,) = parser.trees([["the", "fox", "bow"]])
    assert str(parsed.value) == "(S (NP (DT the) (NN fox)) (VP (VB bow)))"


def test_without_evidence_classes_change_nothing(tmp_path: Path) -> None:
    bank, _ = treebank(TREES, QUICK)
    train_in(tmp_path / "plain", bank, QUICK)
    train_in(tmp_path / "classed", bank, QUICK, classes=WordClasses(["unseen"], [0]))
    plain, classed = content(tmp_path / "plain"), content(tmp_path / "classed")
    assert classed.pop("words.classes") == b"unseen 0\n"
    assert b"classes" not in plain["parser.toml"]
    assert classed["parser.toml"].replace(b"classes = 1\n", b"") == plain["parser.toml"]
    differing = {name for name, text in plain.items() if classed[name] != text}
    assert differing == {"parser.toml", "training.state"}


def test_training_with_classes_goes_on_with_the_same_classes(tmp_path: Path) -> None:
    options = ParserTraining(cycles=1)
    bank, _ = treebank(CLASSED, options)
    train_in(tmp_path / "whole", bank, options, classes=CLASSES)
    train_in(tmp_path / "again", bank, ParserTraining(cycles=0), classes=CLASSES)
    for others in (None, WordClasses(CLASSES.words, CLASSES.classes[::-1])):
        with pytest.raises(FormatError, match="is that of other trees, options or word classes"):
            train_in(tmp_path / "again", bank, options, classes=others)
    train_in(tmp_path / "again", bank, options, classes=CLASSES)
    assert content(tmp_path / "again") == content(tmp_path / "whole")


def test_classes_that_a_grammar_lacks_are_missed(tmp_path: Path) -> None:
    bank, model, classes = tmp_path / "bank.tree", tmp_path / "model", tmp_path / "classes"
    write(bank, CLASSED)
    CLASSES.write(classes)
    assert main(["parser", "train", str(bank), "--out", str(model), "--cycles", "0", "--classes", str(classes)]) == 0
    path = model / "words.classes"
    assert path.read_bytes() == classes.read_bytes()
    path.write_bytes(path.read_bytes()[: -len("odd 9\n")])
    with pytest.raises(FormatError, match=r"words\.classes: has 8 words; expected 9, as parser\.toml says"):
        load_parser(model)
    path.unlink()
    with pytest.raises(FormatError, match=r"has no words\.classes; parser\.toml says that it has 9 words"):
        load_parser(model)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("noise", 5.0, "0 to 1"),
        ("noise", float("nan"), "a finite number, 0 to 1"),
        ("smooth_lexicon", 3.0, "0 to 1"),
        ("smooth_grammar", -0.1, "0 to 1"),
        ("merge", 1.5, "0 to 1"),
        ("least", -1.0, "0 to 1"),
        ("split_iterations", -3, "at least 0"),
        ("merge_iterations", -1, "at least 0"),
        ("smooth_iterations", -1, "at least 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, value: float, wanted: str) -> None:
    with pytest.raises(UsageError) as error:
        ParserTraining(**{name: value})  # type: ignore[arg-type]
    assert str(error.value) == f"{name} is {value}; expected {wanted}"


def test_no_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank, _ = treebank([], QUICK)
    with pytest.raises(UsageError, match="there are no trees to train on"):
        train_parser(bank, QUICK)
    with pytest.raises(UsageError, match="there are no trees to train on"):
        train_in(tmp_path / "model", bank, QUICK)
    (tmp_path / "empty.tree").touch()
    assert main(["parser", "train", str(tmp_path / "empty.tree"), "--out", str(tmp_path / "model")]) == 1
    assert capsys.readouterr().err.endswith("empty.tree: has no trees to train on\n")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["stateInfo", "grammar", "lexicon"])
def test_files_cut_at_the_end_of_a_line_are_refused(tmp_path: Path, name: str) -> None:
    options = ParserTraining(**{**vars(QUICK), "cycles": 1})
    train_in(tmp_path, treebank(TREES, options)[0], options)
    path = tmp_path / f"level1.{name}"
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    with pytest.raises(FormatError) as error:
        load_parser(tmp_path)
    assert str(error.value) == (
        f"{path}: has {path.stat().st_size:,} bytes; expected {len(whole):,}, as parser.toml says; is it cut short?"
    )
    assert load_parser(tmp_path, level=0).grammar.states  # which does not need it


def test_settings_cut_anywhere_are_refused(tmp_path: Path) -> None:
    train_in(tmp_path, treebank(TREES, QUICK)[0], ParserTraining(**{**vars(QUICK), "cycles": 0}))
    path = tmp_path / "parser.toml"
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(FormatError, match=r"parser\.toml"):
            load_parser(tmp_path)
    path.write_bytes(whole.splitlines(keepends=True)[0])  # how unknown words are classed, but not the rest
    with pytest.raises(FormatError) as error:
        load_parser(tmp_path)
    assert str(error.value) == f"{path}: does not end with a line of sizes; is it cut short?"


def test_trained_on_the_sample_treebank(tmp_path: Path) -> None:
    parts = split(read_pairs(900))
    options = ParserTraining(cycles=2, signature="chinese")
    bank, _ = treebank((pair.source_tree for pair in parts["train"]), options)
    train_in(tmp_path, bank, options)
    gold = [pair.source_tree for pair in parts["test"]]
    scores = []
    for level in range(3):
        parser = load_parser(tmp_path, level=level)
        scores.append(compare(gold, [p.value for p in parser.trees(tree.words for tree in gold)]).f1)
    assert scores[0] + 0.02 < min(scores[1:])
    assert scores[2] > 0.95


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank, model, text = tmp_path / "bank.tree", tmp_path / "model", tmp_path / "text"
    write(bank, TREES)
    with bank.open("a") as stream:
        stream.write("(S (NP (A a))\n")
    command = ["parser", "train", str(bank), "--out", str(model), "--cycles", "1", "--signature", "chinese"]
    assert main(command) == 1
    assert "bank.tree:105: " in capsys.readouterr().err
    assert main([*command, "--skip-bad"]) == 0
    assert "1 broken trees were left out, the first: " in capsys.readouterr().err
    gold = [pair.source_tree for pair in SAMPLE["test"]]
    text.write_text("".join(" ".join(tree.words) + "\n" for tree in gold) + "\n", encoding="utf-8")
    forests, trees = tmp_path / "out.jsonl", tmp_path / "out.tree"
    assert main(["parse", str(model), str(text), "--out", str(forests)]) == 0
    assert capsys.readouterr().err.endswith(f"{len(gold) + 1} sentences: 1 empty (line {len(gold) + 1})\n")
    assert main(["parse", str(model), str(text), "--out", str(trees), "--time-limit", "1e-9"]) == 0
    assert f"{len(gold)} given up when time was up: flat trees" in capsys.readouterr().err
    assert [tree.words for tree in read_trees(trees)] == [*(tree.words for tree in gold), []]
    assert [forest.words for forest in read_forests(forests)][:-1] == [tree.words for tree in gold]
    by_spans = ["parse", str(model), str(text), "--criterion", "spans"]
    assert main([*by_spans, "--out", str(trees)]) == 0
    assert [tree.words for tree in read_trees(trees)] == [*(tree.words for tree in gold), []]
    capsys.readouterr()
    assert main([*by_spans, "--out", str(tmp_path / "other.jsonl")]) == 2
    assert "criterion is 'spans', which chooses trees; expected --trees" in capsys.readouterr().err
    write(tmp_path / "gold.tree", [*gold, Tree()])
    assert main(["parser", "eval", str(tmp_path / "gold.tree"), str(forests)]) == 0
    figures = capsys.readouterr().out
    assert "F1 " in figures
    assert "tags" not in figures
    lists = tmp_path / "lists"
    assert main(["parse", str(model), str(text), "--kbest", "3", "--out", str(lists)]) == 0
    found = list(read_tree_lists(lists))
    assert len(found) == len(gold) + 1
    assert found[-1] == []
    assert all(a[0] >= b[0] for trees in found for a, b in pairwise(trees))


def test_a_report_has_a_line_for_every_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ParserTraining(cycles=1, signature="chinese")
    bank, _ = treebank(TREES, options)
    model, text, report = tmp_path / "model", tmp_path / "text", tmp_path / "report.tsv"
    train_in(model, bank, options)
    lines = [" ".join(TREES[0].words), "", "。 。 。", " ".join(TREES[1].words)]
    text.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    first, *found = load_parser(model).forests(line.split() for line in lines)
    assert [parsed.status for parsed in found] == ["no_words", "flat", "parsed"]
    wanted = [
        "line\twords\tstatus\tlog_probability\tcut",
        f"1\t{len(TREES[0].words)}\tparsed\t{first.log_probability:.6f}\t0",
        "2\t0\tno_words\t\t0",
        "3\t3\tflat\t\t0",
        f"4\t{len(TREES[1].words)}\tparsed\t{found[-1].log_probability:.6f}\t0",
    ]
    for more in ([], ["--trees"], ["--kbest", "2"]):
        assert main(["parse", str(model), str(text), "--report", str(report), *more]) == 0
        captured = capsys.readouterr()
        assert captured.out
        assert captured.err.endswith("4 sentences: 1 empty (line 2); 1 without a parse: flat trees (line 3)\n")
        assert report.read_text().splitlines() == wanted
        report.unlink()
    assert main(["parse", str(model), str(text), "--report", str(report), "--most-edges", "1"]) == 0
    assert {line.split("\t")[-1] for line in report.read_text().splitlines()} > {"cut", "0"}
    assert main(["parse", str(model), str(text), "--report", "-"]) == 2
    assert "error: --out and --report are both standard output" in capsys.readouterr().err


def test_labels_that_remember_their_ancestors(tmp_path: Path) -> None:
    bank, model, text = tmp_path / "bank.tree", tmp_path / "model", tmp_path / "text"
    write(bank, TREES)
    text.write_text("".join(" ".join(tree.words) + "\n" for tree in TREES), encoding="utf-8")
    assert main(["parser", "train", str(bank), "--out", str(model), "--cycles", "1", "--vertical", "2", "-q"]) == 0
    forests = []
    for suffix in (".jsonl", ".forest"):
        path = tmp_path / f"out{suffix}"
        assert main(["parse", str(model), str(text), "--out", str(path), "-q"]) == 0
        forests.append(list(read_forests(path)))
    assert forests[0] == forests[1]
    twice = 0
    for forest in forests[0]:
        nodes = [(forest.label(v), forest.span(v)) for v in range(len(forest.words), forest.graph.nodes)]
        assert not any("^" in label for label, _ in nodes)
        twice += len(nodes) - len(set(nodes))
    assert twice > 0
    for options in (["--trees"], ["--kbest", "2"]):
        out = tmp_path / "out"
        assert main(["parse", str(model), str(text), "--out", str(out), "--to", "brackets", *options, "-q"]) == 0
        assert "^" not in out.read_text(encoding="utf-8")


def test_lists_of_other_parsers(tmp_path: Path) -> None:
    path = tmp_path / "egret"
    path.write_text(
        "sentence 1: \na b\n2 best:\n( (S (A a) (B b)))\n( (S (B a) (B b)))\nsentence 2: \nc\n2 best:\n(())\n"
    )
    assert [[str(tree) for _, tree in trees] for trees in read_tree_lists(path)] == [
        ["(S (A a) (B b))", "(S (B a) (B b))"],
        [],
    ]
    path.write_text("( (S (A a)))\n\n(())\n\n( (S (A b)))\n( (S (B b)))\n")
    assert [len(trees) for trees in read_tree_lists(path)] == [1, 0, 2]
    path.write_text("( (S (A a)))\nx\t(S\n")
    with pytest.raises(FormatError, match="egret:2: is not a tree"):
        list(read_tree_lists(path))
