"""`treeglot convert`: every pair of formats, what works and what does not, and the words when it does not."""

from __future__ import annotations

import functools
import gzip
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from messages import messages

from treeglot.cli import main
from treeglot.syntax import FORMATS, Alignment, Dependency, ParseForest, Tree, read, write
from treeglot.syntax.formats import read_dependencies, read_forests, read_trees
from treeglot.syntax.lattice import Lattice

TREES = [
    Tree.parse("(S (NP (NNP Bush)) (VP (VBD held) (NP (DT a) (NN talk)) (PP (IN with) (NP (NNP Sharon)))))"),
    Tree.parse("(S (NP (DT The) (NN bear)) (VP (VBD slept)))"),
]
WORDS = [tree.words for tree in TREES]
HEADS = [[1, -1, 3, 1, 1, 4], [1, 2, -1]]  # held; slept

VALUES = {
    "text": WORDS,
    "brackets": TREES,
    "egret": [ParseForest.from_kbest([(0.0, tree)]) for tree in TREES],
    "jsonl": [ParseForest.from_tree(tree) for tree in TREES],
    "lattice": [Lattice.from_words(words) for words in WORDS],
    "conllu": [Dependency(words, heads, ["T"] * len(words)) for words, heads in zip(WORDS, HEADS, strict=True)],
    "conllx": [Dependency(words, heads, ["T"] * len(words)) for words, heads in zip(WORDS, HEADS, strict=True)],
    "pharaoh": [Alignment.parse("0-0 1-2"), Alignment.parse("")],
}
SUFFIX = {
    "text": ".txt",
    "brackets": ".tree",
    "egret": ".forest",
    "jsonl": ".jsonl",
    "lattice": ".lattice",
    "conllu": ".conllu",
    "conllx": ".conllx",
    "pharaoh": ".align",
}
NOUNS = {
    "text": "text",
    "brackets": "trees",
    "egret": "forests",
    "jsonl": "forests",
    "lattice": "lattices",
    "conllu": "dependencies",
    "conllx": "dependencies",
    "pharaoh": "alignments",
}
POSSIBLE = {
    "text": "text (formats: text)",
    "brackets": "trees or forests or dependencies or text (formats: text, brackets, egret, jsonl, conllu, conllx)",
    "egret": "trees or forests or dependencies or text (formats: text, brackets, egret, jsonl, conllu, conllx)",
    "jsonl": "trees or forests or dependencies or text (formats: text, brackets, egret, jsonl, conllu, conllx)",
    "lattice": "lattices (formats: lattice)",
    "conllu": "dependencies or text (formats: text, conllu, conllx)",
    "conllx": "dependencies or text (formats: text, conllu, conllx)",
    "pharaoh": "alignments (formats: pharaoh)",
}


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_all_formats_are_here() -> None:
    assert list(VALUES) == list(FORMATS)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("from_", FORMATS)
def test_every_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str], from_: str, to: str) -> None:
    source, target = tmp_path / f"in{SUFFIX[from_]}", tmp_path / f"out{SUFFIX[to]}"
    write(source, VALUES[from_])
    able = f"formats: {to}" in POSSIBLE[from_] or f", {to}" in POSSIBLE[from_]
    heads = ["--heads", "english"] if NOUNS[to] == "dependencies" and NOUNS[from_] in ("trees", "forests") else []
    code, out, message = run(capsys, "convert", source, target, "--quiet", *heads)
    if not able:
        wanted = f"error: {NOUNS[from_]} cannot be turned into {NOUNS[to]}, only into {POSSIBLE[from_]}\n"
        assert (code, out, message) == (2, "", wanted)
        assert not target.exists()
        return
    assert (code, out, message) == (0, "", "")
    values = list(read(target))
    match NOUNS[to]:
        case "text":
            assert values == WORDS
        case "trees":
            assert values == TREES
        case "forests":
            assert [forest.viterbi() for forest in values] == TREES
            assert [forest.count() for forest in values] == [1.0, 1.0]
        case "dependencies":
            assert [value.words for value in values] == WORDS
            assert [value.heads.tolist() for value in values] == HEADS
        case "lattices":
            assert values == VALUES["lattice"]
        case "alignments":
            assert values == VALUES["pharaoh"]


def test_dependencies_need_a_head_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.tree", TREES)
    assert run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.conllu") == (
        2,
        "",
        "error: turning trees into dependencies takes a head table: "
        "heads is chinese, chinese-particles, english, first, german, last or a file\n",
    )
    code, _, message = run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.conllu", "--heads", "klingon")
    assert (code, message) == (
        2,
        "error: no head table 'klingon': expected a file or one of chinese, chinese-particles, english, first, german, "
        "last\n",
    )
    assert not (tmp_path / "a.conllu").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--heads", "english"], "heads has no part in turning trees into text"),
        (["--kbest", "2"], "kbest has no part in turning trees into text"),
        (["--prune", "3"], "prune has no part in turning trees into text"),
        (["--kbest", "0"], "kbest is 0; expected at least 1"),
        (["--kbest", "9" * 20], f"kbest is {'9' * 20}; expected at most 2^32 - 1"),
        (["--prune", "-1"], "prune is -1.0; expected at least 0"),
        (["--prune", "nan"], "prune is nan; expected a number, at least 0"),
        (["--read", "tags=xpos"], "unknown option of brackets 'tags'; known: none"),
        (
            ["--from", "ptb"],
            "unknown format 'ptb'; known: brackets, candc, conllu, conllx, egret, enju, enju-so, jsonl, lattice, "
            "pharaoh, plf, text",
        ),
    ],
)
def test_options_without_a_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    write(tmp_path / "a.tree", TREES)
    wanted = (2, "", f"error: {message}\n")
    assert run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.txt", *arguments) == wanted


def test_unknown_suffix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, message = run(capsys, "convert", tmp_path / "a.zh", tmp_path / "a.txt")
    assert code == 2
    assert message.startswith(f"error: the suffix of '{tmp_path / 'a.zh'}' names no format; give one of text, ")


def test_missing_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = (1, "", f"error: {tmp_path / 'a.tree'}: No such file or directory\n")
    assert run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.txt") == wanted


def test_missing_folder_of_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.tree", TREES)
    target = tmp_path / "x" / "a.txt"
    wanted = (1, "", f"error: {target}: No such file or directory\n")
    assert run(capsys, "convert", tmp_path / "a.tree", target) == wanted


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_compressed(tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    source, target = tmp_path / f"a.tree{suffix}", tmp_path / f"a.forest{suffix}"
    write(source, TREES)
    assert run(capsys, "convert", source, target, "-q")[0] == 0
    assert [forest.viterbi() for forest in read_forests(target)] == TREES


def test_streams() -> None:
    """Standard input and output, compression and progress aside."""
    done = subprocess.run(
        [sys.executable, "-m", "treeglot", "convert", "-", "-", "--from", "brackets", "--to", "text"],
        input="".join(f"{tree}\n" for tree in TREES).encode(),
        capture_output=True,
    )
    assert done.stdout.decode() == "Bush held a talk with Sharon\nThe bear slept\n"
    assert done.stderr.decode().startswith("converting: 2 text in ")
    assert done.returncode == 0


def test_nobody_reads_the_output(tmp_path: Path) -> None:
    write(tmp_path / "a.tree", TREES * 5000)
    command = [sys.executable, "-m", "treeglot", "-q", "convert", str(tmp_path / "a.tree"), "-", "--to", "text"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"Bush held a talk with Sharon\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_interrupted(tmp_path: Path) -> None:
    """Nothing is left of an output that was being written."""
    target = tmp_path / "out.txt"
    command = [sys.executable, "-m", "treeglot", "-q", "convert", "-", str(target), "--from", "brackets"]
    # A shell's background jobs ignore SIGINT, and so would what they start.
    listen = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=listen) as process:
        assert process.stdin is not None
        process.stdin.write(b"(S (X a))\n" * 300_000)  # more than a chunk: it has begun to write
        while not list(tmp_path.iterdir()) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == b"interrupted\n"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_bad_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "a.align", tmp_path / "b.align"
    source.write_text("0-0\n0:0\n1-1\n?\n2-2\n")
    problem = f"{source}:2: '0:0' is not a link; expected SOURCE-TARGET such as 3-0"
    assert run(capsys, "convert", source, target) == (1, "", f"error: {problem}\n")
    assert not target.exists()
    code, _, err = run(capsys, "convert", source, target, "--skip-bad")
    assert (code, messages(err)) == (0, f"warning: 2 bad records were left out, the first: {problem}\n")
    assert target.read_text() == "0-0\n1-1\n2-2\n"


AMBIGUOUS = [
    Tree.parse("(S (A a) (B b) (C c))"),
    Tree.parse("(S (X (A a) (B b)) (C c))"),
    Tree.parse("(S (A a) (Y (B b) (C c)))"),
]


def test_kbest_lists_pack_into_forests_and_come_out_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three trees make a forest; the forest's four best are they and an empty tree."""
    write(tmp_path / "a.tree", [*AMBIGUOUS, TREES[0], Tree(), Tree()])
    assert run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.jsonl", "--kbest", 3, "-q")[0] == 0
    assert [forest.count() for forest in read_forests(tmp_path / "a.jsonl")] == [3.0, 1.0]
    assert run(capsys, "convert", tmp_path / "a.jsonl", tmp_path / "b.tree", "--kbest", 4, "-q")[0] == 0
    trees = list(read_trees(tmp_path / "b.tree"))
    assert sorted(map(str, trees[:3])) == sorted(map(str, AMBIGUOUS))
    assert trees[3:] == [Tree(), TREES[0], Tree(), Tree(), Tree()]


def test_pruning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forest = ParseForest.from_kbest([(0.0, AMBIGUOUS[0]), (-1.0, AMBIGUOUS[1]), (-5.0, AMBIGUOUS[2])])
    write(tmp_path / "a.jsonl", [forest])
    left = []
    for margin in (0, 3, 99):
        assert run(capsys, "convert", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--prune", margin, "-q")[0] == 0
        left += [pruned.count() for pruned in read_forests(tmp_path / "b.jsonl")]
    assert left == [1.0, 2.0, 3.0]


def test_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Posteriors of a forest of conditional probabilities, by hand: its trees have 1/2, 1/3 and 1/6."""
    forest = ParseForest.from_kbest(
        [(math.log(p), tree) for p, tree in zip((1 / 2, 1 / 3, 1 / 6), AMBIGUOUS, strict=True)]
    )
    write(tmp_path / "a.jsonl", [forest.conditional()])
    code, _, message = run(capsys, "convert", tmp_path / "a.jsonl", tmp_path / "b.forest")
    assert code == 0
    assert message.startswith("scores are written as posteriors: Egret's format has no others\n")
    (read_back,) = read_forests(tmp_path / "b.forest")
    first = read_back.graph.first_edge
    found = {read_back.label(v): read_back.scores[first[v]] for v in range(3, read_back.graph.nodes)}
    assert found["X"] == pytest.approx(math.log(1 / 3), abs=1e-4)
    assert found["Y"] == pytest.approx(math.log(1 / 6), abs=1e-4)
    assert run(capsys, "convert", tmp_path / "b.forest", tmp_path / "c.jsonl", "--scores", "conditional", "-q")[0] == 0
    (conditional,) = read_forests(tmp_path / "c.jsonl")
    assert conditional.scores == pytest.approx(forest.conditional().scores, abs=1e-3)


def test_trees_of_other_words_do_not_pack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.tree", TREES)
    code, _, message = run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.jsonl", "--kbest", 2)
    assert code == 1
    assert message == f"error: {tmp_path}/a.tree:2: tree 2 of a list has other words than its first\n"


def test_a_refusal_names_the_very_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lists are read whole, and trees may take several lines."""
    first, second = "(S (A a)\n  (B b))\n\n", "(S (A a) (C c))\n"
    (tmp_path / "a.tree").write_text(first * 300 + first * 7 + second + first * 292)
    code, _, message = run(capsys, "convert", tmp_path / "a.tree", tmp_path / "a.jsonl", "--kbest", 300)
    assert (code, message) == (1, f"error: {tmp_path}/a.tree:922: tree 8 of a list has other words than its first\n")
    zipped = gzip.compress((tmp_path / "a.tree").read_bytes())
    (tmp_path / "a.tree.gz").write_bytes(zipped)
    assert run(capsys, "convert", tmp_path / "a.tree.gz", tmp_path / "a.jsonl", "--kbest", 300)[2].count(".gz:922: ")


def test_columns_of_tags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "1\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(line)
    assert run(capsys, "convert", tmp_path / "a.conllu", tmp_path / "b.conllu", "--read", "tags=xpos", "-q")[0] == 0
    assert [d.tags for d in read_dependencies(tmp_path / "b.conllu")] == [["VBD"]]
    assert run(capsys, "convert", tmp_path / "a.conllu", tmp_path / "c.conllu", "--write", "tags=xpos", "-q")[0] == 0
    assert [d.tags for d in read_dependencies(tmp_path / "c.conllu", tags="xpos")] == [["VERB"]]


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """A file of 40 MB passes through a process that may not grow by more than half of that."""
    source = tmp_path / "a.tree.gz"
    record = f"{TREES[0]}\n".encode()
    with gzip.open(source, "wb", compresslevel=1) as stream:
        for _ in range(40):
            stream.write(record * (1_000_000 // len(record)))
    code = (
        "import resource, sys; from treeglot.cli import main; import treeglot.syntax.convert\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"main(['convert', {str(tmp_path / 'tiny.tree')!r}, {str(tmp_path / 'tiny.forest')!r}, '-q'])\n"
        "before = peak()\n"
        f"code = main(['convert', {str(source)!r}, {os.devnull!r}, '--to', 'text', '-q'])\n"
        "print(code, peak() - before)"
    )
    write(tmp_path / "tiny.tree", TREES)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    code_, grown = done.stdout.split()
    assert (code_, done.stderr) == ("0", "")
    assert int(grown) < 20_000 * (1 if sys.platform == "linux" else 1024)


@pytest.mark.parametrize(("closed", "name"), [("<&-", "standard input"), (">&-", "standard output")])
def test_closed_streams(closed: str, name: str) -> None:
    command = f"exec {sys.executable} -m treeglot convert - - --from text --to text {closed}"
    done = subprocess.run(command, shell=True, input="a\n", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"error: {name}: Bad file descriptor\n")


def test_lists_of_trees_stay_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.tree", [Tree.parse("(S (A a))")] * 3)
    files = (tmp_path / "a.tree", tmp_path / "a.jsonl", "--kbest", "2")
    assert run(capsys, "convert", *files)[::2] == (1, f"error: {files[0]}:3: the last list has 1 of 2 trees\n")
    message = "error: --skip-bad would move trees from one list of --kbest into the next\n"
    assert run(capsys, "convert", *files, "--skip-bad")[::2] == (2, message)
    assert not (tmp_path / "a.jsonl").exists()


def test_failed_parses_are_left_out_of_conll_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees, out = tmp_path / "a.tree", tmp_path / "a.conllu"
    trees.write_text("(S (NP (PRP I)) (VP (VBP run)))\n(())\n(S (VP (VB run)))\n")
    assert main(["convert", str(trees), str(out), "--heads", "english"]) == 1
    assert not out.exists()
    assert main(["convert", str(trees), str(out), "--heads", "english", "--skip-bad"]) == 0
    assert [len(sentence) for sentence in read_dependencies(out)] == [2, 1]
    assert "warning: 1 sentences without words were left out: conllu cannot hold them" in capsys.readouterr().err


def test_a_text_with_a_blank_line_is_refused_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees, text, out = tmp_path / "a.tree", tmp_path / "a.en", tmp_path / "a.conllu"
    trees.write_text("(S (VP (VB run)))\n(())\n")
    text.write_text("run\n\n")
    assert main(["convert", str(trees), str(out), "--heads", "english", "--text", str(text)]) == 1
    assert f"{text}:2: a blank line; conllu cannot hold a sentence without words" in capsys.readouterr().err
    assert not out.exists()


def test_options_of_egrets_format_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.forest", VALUES["egret"], "egret")
    for value in ("true", "false"):
        target = tmp_path / f"{value}.jsonl"
        assert run(capsys, "convert", tmp_path / "a.forest", target, "--read", f"keep_suffix={value}")[0] == 0
        assert len(list(read_forests(target))) == len(TREES)
    code, _, message = run(capsys, "convert", tmp_path / "a.forest", tmp_path / "b.jsonl", "--read", "keep_suffix=7")
    assert (code, message) == (2, "error: keep_suffix is 7; expected true or false\n")
