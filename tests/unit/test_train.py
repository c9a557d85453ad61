"""From aligned text to a model that translates it back, on the sample treebank."""

from pathlib import Path

import pytest

from treeglot import load, sample
from treeglot.cli import main
from treeglot.models import KINDS
from treeglot.syntax import write


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = sample.generate(pairs=120, seed=3)
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
    found = model.translate_all(sources, threads=2)
    # Every pair is a rule or a few of its own: most come back whole.
    assert sum(t.text == reference for t, reference in zip(found, references, strict=True)) > len(sources) * 0.6
    assert not any("unknown" in t.features for t in found)


def test_threads_do_not_change_the_bytes(corpus: Path, tmp_path: Path) -> None:
    for threads in ("1", "2"):
        assert main([*arguments(corpus, tmp_path / threads), "--threads", threads]) == 0
    for name in ("rules.table", "rules.parquet", "lm.bin", "weights.txt", "model.toml"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_options_from_a_file(corpus: Path, tmp_path: Path) -> None:
    options = tmp_path / "options.toml"
    options.write_text("lm_order = 3\n[extract]\nmax_nonterminals = 0\n[search]\npop_limit = 10\n")
    assert main([*arguments(corpus, tmp_path / "model"), "--options", str(options)]) == 0
    model = load(tmp_path / "model")
    assert model.translator.options.pop_limit == 10
    assert model.translator.lm is not None
    assert model.translator.lm.order == 3
    sources = (corpus / "zh.txt").read_text().splitlines()
    steps = [s for t in model.translate_all(sources[:20]) for s in t.derivation.steps if not s.local]
    assert steps
    assert all(step.children == 0 for step in steps)


def test_refusals(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_kind_says_what_it_needs(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = arguments(corpus, tmp_path / "model")
    assert main([*given[:4], "-o", str(tmp_path / "model")]) == 2
    assert "a hiero model is trained with --target; none was given" in capsys.readouterr().err
    assert main([*given, "--source-trees", str(corpus / "zh.txt")]) == 2
    assert "a hiero model makes no use of --source-trees" in capsys.readouterr().err
    assert main(["train", "heiro", *given[2:]]) == 2
    assert "unknown kind of model 'heiro'; did you mean 'hiero'? known: " in capsys.readouterr().err
