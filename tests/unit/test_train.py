"""From aligned text to a model that translates it back, on the sample treebank."""

import json
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from treeglot import UsageError, load, sample
from treeglot.cli import main
from treeglot.decode import SearchOptions
from treeglot.models import KINDS
from treeglot.models.c2d import C2D_KINDS
from treeglot.models.kinds import BUILT_IN
from treeglot.syntax import write


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = sample.read_pairs(120)
    write(folder / "zh.txt", [pair.source_tree.words for pair in pairs])
    write(folder / "en.txt", [pair.target_tree.words for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return folder


def arguments(corpus: Path, out: Path) -> list[str]:
    files = {"--source": "zh.txt", "--target": "en.txt", "--alignments": "links.align"}
    return [
        "train",
        "hiero",
        *(part for key, name in files.items() for part in (key, str(corpus / name))),
        "-o",
        str(out),
    ]


def test_a_model_translates_what_it_was_trained_on(corpus: Path, tmp_path: Path) -> None:
    assert main([*arguments(corpus, tmp_path / "model"), "--threads", "2"]) == 0
    model = load(tmp_path / "model")
    sources = (corpus / "zh.txt").read_text().splitlines()
    references = (corpus / "en.txt").read_text().splitlines()
    found = model.translate_batch(sources, threads=2)
    # Every pair is a rule or a few of its own: most come back whole.
    assert sum(t.text == reference for t, reference in zip(found, references, strict=True)) > len(sources) * 0.6
    assert not any("unknown" in t.features for t in found)


def test_threads_do_not_change_the_bytes(corpus: Path, tmp_path: Path) -> None:
    for threads in ("1", "2"):
        assert main([*arguments(corpus, tmp_path / threads), "--threads", threads]) == 0
    for name in ("rules.table", "rules.parquet", "lm.bin", "weights.txt", "model.toml"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_a_model_is_not_mixed_with_one_that_was_there(corpus: Path, tmp_path: Path) -> None:
    assert main(arguments(corpus, tmp_path / "model")) == 0
    options = tmp_path / "options.toml"
    options.write_text("lm_order = 3\n")
    program = (  # the second training has no room for its language model, which is made last
        "import importlib, resource, sys\n"
        "from treeglot.cli import main\n"
        "train = importlib.import_module('treeglot.models.train')\n"
        "make = train._make_lm\n"
        "def full(*given):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))\n"
        "    make(*given)\n"
        "train._make_lm = full\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", program, *arguments(corpus, tmp_path / "model"), "--options", str(options)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert re.search(r"error: .*lm.*: File too large", ended.stderr)
    assert "Traceback" not in ended.stderr
    assert load(tmp_path / "model").translator.lm.order == 5  # the old model is still there
    assert main([*arguments(corpus, tmp_path / "model"), "--options", str(options)]) == 0
    lm = load(tmp_path / "model").translator.lm
    assert lm is not None
    assert lm.order == 3
    assert not list((tmp_path / "model").glob(".*"))


def test_options_from_a_file(corpus: Path, tmp_path: Path) -> None:
    options = tmp_path / "options.toml"
    options.write_text("lm_order = 3\n[extract]\nmax_nonterminals = 0\n[search]\npop_limit = 10\n")
    assert main([*arguments(corpus, tmp_path / "model"), "--options", str(options)]) == 0
    model = load(tmp_path / "model")
    assert model.translator.options.pop_limit == 10
    assert model.translator.lm is not None
    assert model.translator.lm.order == 3
    sources = (corpus / "zh.txt").read_text().splitlines()
    steps = [s for t in model.translate_batch(sources[:20]) for s in t.derivation.steps if not s.local]
    assert steps
    assert all(step.children == 0 for step in steps)

    more = ["--set", "lm_order=2", "--set", "search.span_limit=7", "--set", "score.smoothing=none"]
    assert main([*arguments(corpus, tmp_path / "other"), "--options", str(options), *more]) == 0
    model = load(tmp_path / "other")
    assert (model.translator.options.pop_limit, model.translator.options.span_limit) == (10, 7)
    assert model.translator.lm is not None
    assert model.translator.lm.order == 2


def test_refusals(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given, problem in [
        ("lm_order=4294967296", "lm_order is 4294967296; expected 1 to 9"),
        ("extract.max_word=7", "unknown option of [extract] 'max_word'; known: "),
        ("serch.beam=1", "unknown option 'serch'; did you mean 'search'? known: "),
    ]:
        assert main([*arguments(corpus, tmp_path / "model"), "--set", given]) == 2
        assert capsys.readouterr().err.startswith(f"error: {problem}")
    wrong = arguments(corpus, tmp_path / "model")
    wrong[1] = "heiro"
    assert main(wrong) == 2
    known = ", ".join(sorted(KINDS))
    assert capsys.readouterr().err == f"error: unknown kind of model 'heiro'; did you mean 'hiero'? known: {known}\n"
    short = tmp_path / "short.align"
    short.write_text("0-0\n")
    wrong = arguments(corpus, tmp_path / "model")
    wrong[wrong.index("--alignments") + 1] = str(short)
    assert main(wrong) == 1
    assert f"error: {short}: has 1 records, fewer than" in capsys.readouterr().err
    assert not (tmp_path / "model" / "model.toml").exists()


def test_options_of_other_kinds_searches_are_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments(corpus, tmp_path / "model"), "--set", "search.crossing_phrases=true"]) == 2
    problem = "search.crossing_phrases is true, which a hiero model does not use; expected false, as it was"
    assert problem in capsys.readouterr().err
    others = {"dependency_trees": 2, "max_combinations": 1, "forest_margin": 3.0, "label_limit": 2}
    for kind in (KINDS[name] for name in BUILT_IN):
        dependents = {"dep2str": {"dependency_trees"}, "dep2str-aug": {"dependency_trees", "max_combinations"}}
        own = {"crossing_phrases", "forest_margin"} if kind in C2D_KINDS else dependents.get(kind.name, {"label_limit"})
        for name, value in ({"crossing_phrases": True} | others).items():
            options = kind.options(search=SearchOptions(**{name: value}))
            with (
                nullcontext()
                if name in own
                else pytest.raises(UsageError, match=f"search.{name} is {json.dumps(value)}")
            ):
                kind.validate(options)


def test_a_kind_says_what_it_needs(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = arguments(corpus, tmp_path / "model")
    assert main([*given[:4], "-o", str(tmp_path / "model")]) == 2
    assert "a hiero model is trained with --target; none was given" in capsys.readouterr().err
    assert main([*given, "--source-trees", str(corpus / "zh.txt")]) == 2
    assert "a hiero model does not use --source-trees" in capsys.readouterr().err
    assert main(["train", "heiro", *given[2:]]) == 2
    assert "unknown kind of model 'heiro'; did you mean 'hiero'? known: " in capsys.readouterr().err


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three pairs, with everything that any kind of model needs; the arguments of all."""
    monkeypatch.chdir(tmp_path)
    Path("s").write_text("das Haus\nein Haus\ndas\n")
    Path("t").write_text("the house\na house\nthe\n")
    Path("a").write_text("0-0 1-1\n0-0 1-1\n0-0\n")
    Path("s.ptb").write_text("(NP (DT das) (NN Haus))\n(NP (DT ein) (NN Haus))\n(NP (DT das))\n")
    Path("t.ptb").write_text("(NP (DT the) (NN house))\n(NP (DT a) (NN house))\n(NP (DT the))\n")
    Path("lm.arpa").write_text("\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n\n\\end\\\n")
    return ["--source", "s", "--target", "t", "--alignments", "a", "--lm", "lm.arpa", "-o", "model"]


TREES = {
    "hiero": (),
    "t2t-exact": ("--source-trees", "s.ptb", "--target-trees", "t.ptb"),
    "t2t-fuzzy": ("--source-trees", "s.ptb", "--target-trees", "t.ptb"),
    "s2d": ("--target-trees", "t.ptb"),
    "dep2str": ("--source-trees", "s.ptb"),
    "c2s": ("--source-trees", "s.ptb"),
}


@pytest.mark.parametrize("kind", TREES)
def test_a_link_outside_its_sentence_is_named(small: list[str], kind: str, capsys) -> None:
    Path("a").write_text("0-0 1-1\n0-0 1-7\n0-0\n")
    assert main(["train", kind, *small, *TREES[kind]]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "error: a:2: link 1-7: the target sentence has 2 words"


@pytest.mark.parametrize("kind", ["hiero", "s2d"])
def test_links_of_an_empty_line_are_named(small: list[str], kind: str, capsys) -> None:
    Path("s").write_text("das Haus\n\ndas\n")
    assert main(["train", kind, *small, *TREES[kind]]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "error: a:2: link 0-0: the source sentence has 0 words"


@pytest.mark.parametrize("kind", TREES)
def test_pairs_without_links_are_counted(small: list[str], kind: str, capsys) -> None:
    Path("a").write_text("0-0 1-1\n\n0-0\n")
    assert main(["train", kind, *small, *TREES[kind]]) == 0
    err = capsys.readouterr().err
    assert "3 sentence pairs, of them 1 without links\n" in err
    assert "there are no rules" not in err


def test_no_links_at_all(small: list[str], capsys) -> None:
    Path("a").write_text("\n\n\n")
    assert main(["train", "hiero", *small]) == 0
    assert "warning: none of the 3 sentence pairs has links: there are no rules\n" in capsys.readouterr().err


def test_gappy_rules_from_the_core_alone(small: list[str]) -> None:
    def gappy() -> list[str]:
        assert main(["train", "hiero", *small, "--options", "o.toml"]) == 0
        model = load("model").translator.table
        labelled = [model.rule(i)[1] for i in range(len(model))]
        words = model.source_words
        return sorted({words[s] for source in labelled if any(x >> 31 for x in source) for s in source if not s >> 31})

    Path("o.toml").write_text("")
    assert gappy() == ["Haus", "das", "ein"]
    Path("o.toml").write_text("[extract]\ncore = 1\n")
    assert gappy() == ["Haus", "das"]


def test_rules_that_are_not_significant_are_left_out(corpus: Path, tmp_path: Path) -> None:
    """On real counts: the products of Fisher's test are far beyond what decimals hold."""
    for name, least in (("all", 0), ("some", 5)):
        options = tmp_path / f"{name}.toml"
        options.write_text(f"[score]\nsignificance = {least}\n")
        assert main([*arguments(corpus, tmp_path / name), "--options", str(options)]) == 0
    kept = [(tmp_path / name / "rules.table").stat().st_size for name in ("all", "some")]
    assert kept[0] > kept[1] > 0
