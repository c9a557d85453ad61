"""From raw text to a tuned model that takes and gives text, by one command and by a recipe."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import treeglot
from treeglot.align import Aligner
from treeglot.cli import main
from treeglot.decode.constraints import Constraints
from treeglot.decode.weights import read_weights, write_weights
from treeglot.experiment import load_recipe, steps_of
from treeglot.experiment.text import TextRecipe, _learn_words
from treeglot.models.kinds import find_kind

NOUNS = {"Hund": "dog", "Mann": "man", "Baum": "tree", "Tisch": "table", "Stuhl": "chair", "Zug": "train"}
VERBS = {"sieht": "sees", "kennt": "knows", "malt": "paints"}
PAIRS = [
    (f"Der {a} {v} den {b}.", f"The {NOUNS[a]} {VERBS[v]} the {NOUNS[b]}.") for a in NOUNS for b in NOUNS for v in VERBS
]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    held = PAIRS[::10]
    kept = [pair for pair in PAIRS if pair not in held] + [("", "Nothing."), ("Nichts.", " ")]
    out = {}
    for name, pairs in (("train", kept), ("dev", held)):
        for side, code in enumerate(("de", "en")):
            out[f"{name}.{code}"] = write(tmp_path / f"{name}.{code}", [pair[side] for pair in pairs])
    return out


def command(files: dict[str, Path], out: Path, *more: str, languages: str = "de-en") -> list[str]:
    given = ["train", "hiero", "--source", str(files["train.de"]), "--target", str(files["train.en"])]
    return [*given, "--languages", languages, "--set", "search.pop_limit=20", "-o", str(out), *more]


def test_one_command_from_raw_files_to_a_tuned_model(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = ["--dev", str(files["dev.de"]), "--refs", str(files["dev.en"])]
    assert main(command(files, tmp_path / "model", *dev)) == 0
    assert "2 pairs with an empty side are left out" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["model"]  # nothing else is left
    shutil.move(tmp_path / "model", tmp_path / "moved")
    model = treeglot.load(tmp_path / "moved")
    assert "mert" in (tmp_path / "moved/weights.txt").read_text()  # the comment of tuned weights
    assert str(Aligner.load(tmp_path / "moved/aligner").align(["der", "baum"], ["the", "tree"])) == "0-0 1-1"
    found = model.translate("Der Baum kennt den Stuhl. Der Hund malt den Zug.")
    assert found.text == "The tree knows the chair. The dog paints the train."
    assert [sentence.text for sentence in found.sentences] == ["The tree knows the chair.", "The dog paints the train."]
    begin, end = found.source_tokens.spans[1]
    assert found.source[begin:end] == "Baum"
    model.learn("Der Vogel sieht den Hund.", "The bird sees the dog.")
    assert model.translate("Der Vogel sieht den Hund.").text == "The bird sees the dog."
    write_weights(tmp_path / "moved/weights.txt", find_kind("hiero").weights | {"lm": 0.25})
    assert main(command(files, tmp_path / "moved")) == 2  # tuned weights are not replaced unasked
    assert "has a model with tuned weights; expected --force" in capsys.readouterr().err


def test_a_recipe_of_raw_text_ends_in_models_that_can_be_found(files: dict[str, Path], tmp_path: Path) -> None:
    recipe = tmp_path / "raw.toml"
    recipe.write_text(
        '[text]\nlanguages = "de-en"\n[corpus]\nsource = "train.de"\ntarget = "train.en"\n'
        '[dev]\nsource = "dev.de"\nreferences = ["dev.en"]\n[test.one]\nsource = "dev.de"\nreferences = ["dev.en"]\n'
        "[tune]\niterations = 2\n"
        '[[system]]\nname = "plain"\nkind = "hiero"\noptions = { search = { pop_limit = 20 } }\n'
    )
    assert main(["run", str(recipe)]) == 0
    work = tmp_path / "raw"
    [tuned] = work.glob("tune-plain.*/best.weights")
    assert read_weights(work / "models/plain/weights.txt") == read_weights(tuned)
    [output] = work.glob("translate-plain-one.*/output.txt")
    model = treeglot.load(work / "models/plain")
    lines = files["dev.de"].read_text().splitlines()
    assert output.read_text().splitlines() == [model.translate(line).text for line in lines]
    assert "tok:13a" in (work / "report.json").read_text()
    notes = work / "models/plain/notes.txt"
    notes.write_text("a user's")
    assert main(["run", str(recipe)]) == 0
    assert notes.exists()  # a model that is still made of the same is left alone


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('target = "train.en"', 'target = "train.en"\nalignments = "x.align"'), "corpus.alignments belongs to words"),
        (('"de-en"', '"german"'), "'german' is not a pair of languages; expected SOURCE-TARGET such as de-en"),
        (("[dev]", '[parser]\nadapter = "udpipe"\n[dev]'), "adapter is 'udpipe'; expected ADAPTER:MODEL"),
        (("[dev]", "[parser]\ncycles = 1\n[dev]"), "expected one of trees, grammar and adapter"),
        (("[dev]", '[parser]\ngrammar = "none"\n[dev]'), "none is not a folder; expected the folder of a grammar"),
    ],
)
def test_recipes_of_raw_text_that_are_refused(tmp_path: Path, change: tuple[str, str], problem: str) -> None:
    recipe = tmp_path / "raw.toml"
    text = '[text]\nlanguages = "de-en"\n[corpus]\nsource = "train.de"\ntarget = "train.en"\n'
    text += (
        '[dev]\nsource = "dev.de"\nreferences = ["dev.en"]\n[test.one]\nsource = "dev.de"\nreferences = ["dev.en"]\n'
    )
    recipe.write_text((text + '[[system]]\nname = "plain"\nkind = "hiero"\n').replace(*change))
    with pytest.raises(treeglot.TreeglotError, match=problem):
        steps_of(load_recipe(recipe))


def test_sides_of_other_lengths(files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files["train.en"] = write(tmp_path / "short.en", ["The dog."])
    assert main(command(files, tmp_path / "model")) == 1
    assert f"short.en: has 1 lines; expected {len(PAIRS) - 9}, as " in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_a_development_set_of_other_lengths(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is trained before."""
    short = write(tmp_path / "short.en", ["The dog."])
    assert main(command(files, tmp_path / "model", "--dev", str(files["dev.de"]), "--refs", str(short))) == 1
    told = capsys.readouterr().err
    assert f"short.en: has 1 lines; expected {len(PAIRS[::10])}, as " in told
    assert "train model" not in told


def test_parsers_that_a_kind_has_no_use_for(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(files, tmp_path / "m", "--parser", "grammar")) == 2
    assert "a hiero model is trained without parses of the source text; expected no --parser" in capsys.readouterr().err
    given = command(files, tmp_path / "m", "--parser", "grammar")
    given[1] = "c2d"
    assert main(given) == 2
    assert "a c2d model is trained with parses of the target text; expected --target-parser" in capsys.readouterr().err


def test_words_in_another_form_than_text_are_told(files: dict[str, Path], tmp_path: Path) -> None:
    write(tmp_path / "words.de", ["Cafe\u0301 .", "Haus ."])
    task = SimpleNamespace(inputs={"source": tmp_path / "words.de", "target": tmp_path / "words.de"}, out=tmp_path)
    task.threads = 1
    with pytest.warns(UserWarning, match=r"words\.de: 1 lines are not in Unicode's form NFC"):
        _learn_words(TextRecipe("de-en", tokenised=True), task)


def test_options_that_are_for_raw_text(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "hiero", "--source", str(files["train.de"]), "--target", str(files["train.en"])]
    assert main([*words, "-o", str(tmp_path / "m"), "--dev", str(files["dev.de"])]) == 2
    assert "--dev is for raw text; expected --languages, or no --dev" in capsys.readouterr().err
    assert main(command(files, tmp_path / "m", "--dev", str(files["dev.de"]))) == 2
    assert "--dev and --refs: expected both, or none" in capsys.readouterr().err
    assert main(command(files, tmp_path / "m", "--lm-text", str(files["dev.en"]))) == 2
    assert "--lm, --lm-text and --lms are for words" in capsys.readouterr().err


def test_a_parser_whose_words_are_others_is_named(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The treebank has no word for a full stop: `Hund.` is one."""
    trees = ["(S (A {}) (B {}) (V {}) (A {}) (B {}))".format(*german.split()) for german, _ in PAIRS]
    write(tmp_path / "bank.tree", trees)
    recipe = tmp_path / "raw.toml"
    recipe.write_text(
        '[text]\nlanguages = "de-en"\n[corpus]\nsource = "train.de"\ntarget = "train.en"\n'
        '[test.one]\nsource = "dev.de"\nreferences = ["dev.en"]\n[tune]\nmethod = "none"\n'
        '[parser]\ntrees = "bank.tree"\ncycles = 0\n'
        '[[system]]\nname = "plain"\nkind = "c2s"\n'
    )
    assert main(["run", str(recipe)]) == 0
    told = capsys.readouterr().err
    assert "bank.tree: treebank and text agree on words with F1 72.7, less than 95.0" in told
    assert re.search(r"parse train: done in .* s, .*; the parser knows 83\.3 % of the words\n", told)


def test_numbers_are_variables_of_rules(tmp_path: Path) -> None:
    """Years that the corpus has never translate within rules learnt from others, and in the target's form."""
    pairs = [
        (f"Im Jahr {n} kam der Zug mit {n % 97},5 Tonnen.", f"In the year {n} the train came with {n % 97}.5 tons.")
        for n in range(1801, 1899)
    ]
    pairs += [("Er ist 20 Jahre alt.", "He is twenty years old.")] * 5 + [("Nur 17 Leute.", "Few people.")]
    for side, code in enumerate(("de", "en")):
        write(tmp_path / f"train.{code}", [pair[side] for pair in pairs])
    found = {name: tmp_path / name for name in ("train.de", "train.en")}
    assert main(command(found, tmp_path / "model")) == 0
    assert 'words = ["20"]' in (tmp_path / "model/text.toml").read_text()
    model = treeglot.load(tmp_path / "model")
    given = "Im Jahr 2024 kam der Zug mit 1.234,75 Tonnen. Er ist 20 Jahre alt."
    made = model.translate(given)
    assert made.text == "In the year 2024 the train came with 1,234.75 tons. He is twenty years old."
    assert made.sentences[0].best.text == "in the year ⟨1⟩ the train came with ⟨2⟩ tons ."
    assert not made.features.get("unknown")
    assert [made.text[a:b] for a, b in made.target_tokens.spans] == made.target_tokens.words
    wanted = model.translate("Im Jahr 2024 kam der Zug.", Constraints(contains=["2024 the train"]))
    assert "2024 the train" in wanted.text


def test_a_model_of_text_is_tuned_on_text(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(files, tmp_path / "model")) == 0
    dev = ["--dev", str(files["dev.de"]), "--refs", str(files["dev.en"])]
    fast = ["--iterations", "1", "--kbest", "5", "--set", "restarts=1"]
    capsys.readouterr()
    assert main(["tune", str(tmp_path / "model"), *dev, *fast]) == 0
    said = capsys.readouterr().err
    assert "the model takes text: BLEU is that of its words" in said
    model = treeglot.load(tmp_path / "model")
    reader = model.reader
    sources, references = reader.development(["Der Hund sieht 17 Tische."], [["The dog sees 17 Tables."]])
    assert references == [[" ".join(reader.target_words("The dog sees 17 Tables.", "Der Hund sieht 17 Tische."))]]
    assert sources == reader.inputs("Der Hund sieht 17 Tische.")[0]
    best = max(float(found) for found in re.findall(r"BLEU (\d+\.\d+)", said))
    assert best > 50  # text that is not tokenised has next to nothing in common with the output
