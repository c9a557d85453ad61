"""Weights and k-best lists of other decoders, and their scores for the same grammar, model and input."""

import math
from pathlib import Path

import pytest

from treeglot import FormatError, UsageError, lm
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.kbest import Entry, read_kbest, write_kbest
from treeglot.foreign import ForeignTranslator, read_foreign_weights, read_grammar
from treeglot.foreign.translator import search_options
from treeglot.foreign.weights import ForeignWeights

GRAMMAR = """\
[X] ||| das ||| the ||| PhraseModel_0=-0.1
[X] ||| Haus ||| house ||| PhraseModel_0=-0.2 Rare=1
[X] ||| das [X,1] ||| the [X,1] ||| PhraseModel_0=-2
[X] ||| ist [X,1] ||| [X,1] is ||| PhraseModel_0=-0.3
"""
ARPA = """\
\\data\\
ngram 1=7
ngram 2=3

\\1-grams:
-2.5\t<unk>
0\t<s>\t-0.5
-1.5\t</s>
-1.1\tthe\t-0.3
-1.3\thouse\t-0.2
-1.7\tis\t-0.1
-1.9\tsmall

\\2-grams:
-0.4\t<s> the
-0.2\tthe house
-0.6\tis </s>

\\end\\
"""


@pytest.fixture
def model(tmp_path: Path) -> lm.NgramModel:
    (tmp_path / "lm.arpa").write_text(ARPA)
    return lm.load_ngram(tmp_path / "lm.arpa")


def weights_of(tmp_path: Path, text: str, decoder: str) -> ForeignWeights:
    (tmp_path / "weights").write_text(text)
    return read_foreign_weights(tmp_path / "weights", decoder)


def best(tmp_path: Path, model: lm.NgramModel, weights: ForeignWeights, sentence: str):
    (tmp_path / "grammar").write_text(GRAMMAR)
    table = read_grammar(tmp_path / "grammar")
    translator = Translator(table, weights.ours(), model, SearchOptions(pop_limit=0))
    assert not translator.unknown_weights
    return translator.translate(sentence).kbest(1)[0]


def test_cdec_scores_by_its_definitions(tmp_path, model):
    text = "# tuned\nLanguageModel 1.5\nLanguageModel_OOV=-1\nWordPenalty -2\nGlue 0.25\nPassThrough -3\n"
    text += "PhraseModel_0 0.7\nRare 0.1\n"
    weights = weights_of(tmp_path, text, "cdec")
    found = best(tmp_path, model, weights, "das Haus ist klein")
    # [S [S [X das Haus]] [X ist klein]]: one glue rule, one word that passes through.
    assert found.text == "the house klein is"
    log10 = -0.4 - 0.2 + (-0.2 - 2.5) + (0 - 1.7) - 0.6
    expected = {
        "LanguageModel": log10,
        "LanguageModel_OOV": 1,
        "WordPenalty": -4 / math.log(10),
        "PassThrough": 1,
    }
    features = weights.features(found.features)
    assert {name: features[name] for name in expected} == pytest.approx(expected, abs=1e-5)
    score = sum(weights.weights[name] * value for name, value in features.items())
    assert found.score + weights.constant == pytest.approx(score, abs=1e-4)
    assert weights.constant == 0


def test_moses_counts_the_ends_of_the_sentence(tmp_path, model):
    ini = """\
[feature]
KENLM name=LM0 factor=0 path=lm.arpa order=2
[weight]
LM0= 0.5   # the language model
WordPenalty0= -1
UnknownWordPenalty0= 1
PhrasePenalty0= 0.2
TranslationModel0= 0.3 0.4
TranslationModel1= 1.5
"""
    weights = weights_of(tmp_path, ini, "moses")
    assert weights.weights["TranslationModel0_1"] == 0.4
    ours = weights.ours()
    assert ours["word_penalty"] == 1
    assert ours["unknown"] == pytest.approx(-100 + 0.2)
    assert ours["glue"] == pytest.approx(1.5 * math.log(2.718) + 0.2)
    # <s> and </s> are words, and the phrases between them are joined by one glue rule each.
    features = {"lm": -3.0, "word_penalty": 4.0, "rule_penalty": 2.0, "glue": 1.0}
    theirs = weights.features(features)
    assert theirs == pytest.approx(
        {"LM0": -3, "WordPenalty0": -6, "PhrasePenalty0": 6, "TranslationModel1": 2 * math.log(2.718)}
    )
    assert sum(weights.weights[n] * v for n, v in theirs.items()) == pytest.approx(
        sum(ours[n] * v for n, v in features.items()) + weights.constant
    )


@pytest.mark.parametrize(
    "text",
    [
        "lm_0 1.2\n\ntm_pt_0 1\ntm_glue_0 1\nWordPenalty -3.5\nOOVPenalty -100.0\n",
        "lm = kenlm 5 false false 100 lm.gz\n#weights\nlm 1.2\nphrasemodel pt 0 1\nphrasemodel glue 0 1\n"
        "wordpenalty -3.5\noovpenalty -100.0\n",
    ],
)
def test_joshua(tmp_path, text):
    weights = weights_of(tmp_path, text, "joshua")
    assert weights.weights == {"lm_0": 1.2, "tm_pt_0": 1, "tm_glue_0": 1, "WordPenalty": -3.5, "OOVPenalty": -100}
    # The list of one of Joshua's own tests: Goats eat cheese, three words and the sentence's ends.
    values = {"lm": -16.587 * math.log(10), "word_penalty": 3.0, "tm_pt_0": 0.0}
    theirs = weights.features(values)
    assert theirs["WordPenalty"] == pytest.approx(-2.171, abs=5e-4)
    assert theirs["tm_glue_0"] == 1
    assert weights.ours()["unknown"] == -100
    newer = ForeignWeights("joshua", {"OOVPenalty": 1.0})
    assert newer.ours() == {"unknown": -100}


@pytest.mark.parametrize(
    ("decoder", "text", "line", "problem"),
    [
        (
            "cdec",
            "A 1\nLanguageModel\n",
            2,
            "'LanguageModel' is not a weight; expected NAME VALUE such as LanguageModel 0.5",
        ),
        ("cdec", "A 1 2\n", 1, "'A 1 2' is not a weight; expected NAME VALUE such as LanguageModel 0.5"),
        ("cdec", "A 1\nA=2\n", 2, "A has a weight already"),
        ("cdec", "A x\n", 1, "the weight of A is 'x'; expected a finite number"),
        ("cdec", "=\n", 1, "'=' is not a weight; expected NAME VALUE such as LanguageModel 0.5"),
        ("moses", "[weight]\n=\n", 2, "'=' is not a weight; expected NAME= VALUE … such as LM0= 0.5"),
        ("travatar", "=\n", 1, "'=' is not a weight; expected NAME=VALUE such as lm=0.5"),
        ("joshua", "tm_pt_0\n", 1, "'tm_pt_0' is not a weight; expected NAME VALUE such as lm_0 0.5"),
        ("moses", "[weight]\nLM0 0.5\n", 2, "'LM0 0.5' is not a weight; expected NAME= VALUE … such as LM0= 0.5"),
        ("moses", "LM0= 0.5 nan\n", 1, "the weight of LM0 is 'nan'; expected a finite number"),
        ("cdec", "A 1_000\n", 1, "the weight of A is '1_000'; expected a finite number"),
        # cdec reads every = as a blank: A, and B for a number.
        ("cdec", "A=B 0.5\n", 1, "'A=B 0.5' is not a weight; expected NAME VALUE such as LanguageModel 0.5"),
        ("joshua", "a = b\nlm_0=1\n", 2, "'lm_0=1' is not a weight; expected NAME VALUE such as lm_0 0.5"),
        (
            "moses",
            "[ttable-file]\n0 0 0 5 x\n[weight-l]\n0.5\n",
            3,
            "[weight-t] has 0 weights; expected 5 as [ttable-file] says",
        ),
        ("cdec", "# nothing\n", 0, "has no weights; expected NAME VALUE such as LanguageModel 0.5"),
        ("joshua", "", 0, "has no weights; expected NAME VALUE such as lm_0 0.5"),
        ("cdec", "\ufeffA 1\n", 1, "begins with a byte order mark; expected text"),
        ("joshua", "// a comment\nlm_0 x\n", 2, "the weight of lm_0 is 'x'; expected a finite number"),
        ("moses", "[feature]\nLM0\n", 0, "has no weights; expected NAME= VALUE … such as LM0= 0.5"),
    ],
)
def test_bad_weights(tmp_path, decoder, text, line, problem):
    with pytest.raises(FormatError) as caught:
        weights_of(tmp_path, text, decoder)
    assert str(caught.value) == f"{tmp_path / 'weights'}{f':{line}' if line else ''}: {problem}"


def test_an_unknown_decoder(tmp_path):
    with pytest.raises(UsageError, match="unknown decoder 'jane'; known: cdec, joshua, moses, travatar"):
        weights_of(tmp_path, "", "jane")


def test_lists_come_back(tmp_path):
    entries = [
        Entry(0, "the house", {"lm": -12.5, "glue": 1.0}, -3.25),
        Entry(0, "", {}, 0.0),
        Entry(1, "x", {}),
        Entry(2, "||| a |||b ||| |||", {}),
        Entry(12, "a | b = c", {"f=g": 1e-7}, -1e10),
    ]
    write_kbest(tmp_path / "list", entries)
    assert (tmp_path / "list").read_text().splitlines()[0] == "0 ||| the house ||| lm= -12.5 glue= 1 ||| -3.25"
    assert list(read_kbest(tmp_path / "list")) == entries


def test_lists_of_others(tmp_path):
    (tmp_path / "list").write_text(
        "0 ||| BC ||| F3=0.4;Mono=-1e-3 ||| 6\n"
        "0 ||| c ||| a;b=1 ||| 6\n"
        "1 |||  ||| KENLM0= -9.02167 WordPenalty0= -2 PhraseDictionaryMemory0= 0 0 ||| -0.774376 |||  ||| \n"
        "1 ||| heim_OOV ||| lm_0=-16.587 tm_pt_0=-0.000 ||| -0.000\n"
    )
    found = list(read_kbest(tmp_path / "list"))
    assert found[0] == Entry(0, "BC", {"F3": 0.4, "Mono": -0.001}, 6.0)
    assert found[1].features == {"a;b": 1}  # a name as any other
    memory = {"PhraseDictionaryMemory0_0": 0, "PhraseDictionaryMemory0_1": 0}
    assert found[2] == Entry(1, "", {"KENLM0": -9.02167, "WordPenalty0": -2, **memory}, -0.774376)
    assert found[3] == Entry(1, "heim_OOV", {"lm_0": -16.587, "tm_pt_0": 0}, 0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("0 ||| a", "2 parts between |||; expected SENTENCE ||| TRANSLATION ||| NAME= VALUE … ||| SCORE"),
        ("x ||| a ||| ||| 1", "'x' is not the number of a sentence; expected 0, 1, 2 …"),
        ("0 ||| a ||| lm=x ||| 1", "'lm=x' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| 1 ||| 1", "'1' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm= ||| 1", "'lm=' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm=1 lm=2 ||| 1", "feature lm is there twice"),
        ("0 ||| a ||| TM= 1 2 TM_1=3 ||| 1", "feature TM_1 is there twice"),
        ("0 ||| a ||| lm= 1e39 ||| 1", "'1e39' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm= 1_000 ||| 1", "'1_000' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm=1 ||| x", "'x' is not a score; expected a finite number"),
    ],
)
def test_bad_lists(tmp_path, line, problem):
    (tmp_path / "list").write_text(f"0 ||| a ||| lm=1 ||| 1\n{line}\n")
    with pytest.raises(FormatError) as caught:
        list(read_kbest(tmp_path / "list"))
    assert str(caught.value) == f"{tmp_path / 'list'}:2: {problem}"


GLUE = {
    "joshua": "[GOAL] ||| <s> ||| <s> ||| 0\n[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1\n"
    "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n",
    "moses": "<s> [X] ||| <s> [S] ||| 1 |||  ||| 0\n[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 ||| 0\n"
    "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0\n",
}
RULES = {
    "joshua": "[X] ||| das ||| the ||| 0.1\n[X] ||| Haus ||| house ||| 0.2\n[X] ||| ist [X,1] ||| [X,1] is ||| 0.3\n",
    "moses": "das [X] ||| the [X] ||| 0.9\nHaus [X] ||| house [X] ||| 0.8\n"
    "ist [X][X] [X] ||| [X][X] is [X] ||| 0.7 ||| 1-0\n",
}
WEIGHTS = {
    "joshua": "lm_0 1.2\ntm_pt_0 0.5\ntm_glue_0 -0.7\nWordPenalty -0.3\nOOVPenalty 0.01\n",
    "moses": "[feature]\nKENLM factor=0 order=2 path=lm\nWordPenalty\nUnknownWordPenalty name=Unknown\nPhrasePenalty\n"
    "PhraseDictionaryMemory path=a num-features=1\nPhraseDictionaryMemory path=b num-features=1\n[weight]\n"
    "KENLM0= 0.6\nPhraseDictionaryMemory0= 0.5\nPhraseDictionaryMemory1= -0.7\nWordPenalty0= -0.3\n"
    "PhrasePenalty0= 0.2\n",
}


@pytest.mark.parametrize("decoder", ["joshua", "moses"])
def test_glue_rules_with_marks_are_the_built_in_ones(tmp_path, model, decoder):
    weights = weights_of(tmp_path, WEIGHTS[decoder], decoder)
    (tmp_path / "rules").write_text(RULES[decoder])
    (tmp_path / "glue").write_text(GLUE[decoder])
    prefixes = weights.settings.prefixes or ["tm_pt", "tm_glue"]
    files = [tmp_path / "rules", tmp_path / "glue"]
    alone = ForeignTranslator(read_grammar(files[:1], decoder, prefix=prefixes), weights, model)
    own = ForeignTranslator(read_grammar(files, decoder, prefix=prefixes), weights, model, glue=False)
    assert not alone.unknown_weights and not own.unknown_weights
    sentences = ["das Haus ist klein", "ist das", "klein", "", "das Haus ist " * 12, '<x y="1">']
    for one, other in zip(alone.translate_batch(sentences, 20), own.translate_batch(sentences, 20), strict=True):
        assert one.source == other.source
        for a, b in zip(one.hypotheses, other.hypotheses, strict=True):
            assert b.score == pytest.approx(a.score, abs=1e-4)
            assert sum(weights.weights[name] * value for name, value in b.features.items()) == pytest.approx(b.score)
            assert len(b.given_by) == len(b.text.split())
        if one.hypotheses:
            assert (one.text, one.hypotheses[0].features) == (other.text, pytest.approx(other.hypotheses[0].features))
    marked = own.translate("das Haus")
    assert [step.span for step in marked.derivation.steps if step.label == "X"] == [(0, 1), (1, 2)]
    assert marked.forest().scores.size > 0
    assert marked.kbest(3)[0].text == "the house"


def test_given_translations_between_marks(tmp_path, model):
    weights = weights_of(tmp_path, WEIGHTS["joshua"], "joshua")
    (tmp_path / "rules").write_text(RULES["joshua"] + GLUE["joshua"])
    options = SearchOptions(markup=True, span_limit=20)
    translator = ForeignTranslator(read_grammar(tmp_path / "rules", "joshua"), weights, model, options, glue=False)
    assert translator.translate('das <x translation="small house">Haus</x>').text == "the small house"


def test_names_in_a_configuration(tmp_path):
    weights = weights_of(tmp_path, WEIGHTS["moses"], "moses")
    assert weights.settings.prefixes == ["PhraseDictionaryMemory0", "PhraseDictionaryMemory1"]
    old = weights_of(tmp_path, "[weight-d]\n1\n" + WEIGHTS["moses"], "moses")  # a section that Moses passes over
    assert old.weights == weights.weights
    assert weights.weights["Unknown"] == 1.0  # what Moses takes when no weight is given
    assert weights.ours()["lm"] == 0.6
    assert weights.features({"lm": -2.0, "unknown": 1.0})["Unknown"] == -100
    config = "tm = thrax phrase 20 grammar\ntm = hiero -maxspan 20 -path grammar -owner other\nlm_0 1\n"
    assert weights_of(tmp_path, config, "joshua").settings.prefixes == ["tm_phrase", "tm_other"]
    (tmp_path / "more").write_text("tm_phrase_0 2\nlm_0 3\n")
    assert weights_of(tmp_path, config + "weights_file = more\n", "joshua").weights == {"tm_phrase_0": 2, "lm_0": 1}
    with pytest.raises(FormatError, match="weights: has no weights"):
        weights_of(tmp_path, "tm = thrax pt 20 grammar\n", "joshua")


def test_joshuas_phrase_penalty_with_marks_is_refused(tmp_path):
    weights = ForeignWeights("joshua", {"PhrasePenalty": 1.0})
    (tmp_path / "rules").write_text(RULES["joshua"] + GLUE["joshua"])
    with pytest.raises(UsageError, match="PhrasePenalty does not count Joshua's glue rules"):
        ForeignTranslator(read_grammar(tmp_path / "rules", "joshua"), weights, glue=False)


@pytest.mark.parametrize("decoder", ["cdec", "joshua"])
def test_references_are_not_translated(tmp_path, decoder):
    (tmp_path / "rules").write_text("[X] ||| das ||| the ||| 0\n[X] ||| Haus ||| house ||| 0\n")
    weights = ForeignWeights(decoder, {"PassThrough" if decoder == "cdec" else "OOVPenalty": -1.0})
    translator = ForeignTranslator(read_grammar(tmp_path / "rules", decoder), weights)
    found = translator.translate("das Haus ||| a house")
    assert (found.source, found.text) == ("das Haus ||| a house", "the house")
    assert found.notes == ("the reference after ||| is not used",)
    assert found.kbest(2)[0].text == "the house"


def test_a_configurations_labels_and_limits(tmp_path):
    config = "tm = thrax pt 3 grammar\ntm = thrax glue -1 glue\ndefault_non_terminal = [OOV]\ngoalSymbol=TOP\nlm_0 1\n"
    weights = weights_of(tmp_path, config, "joshua")
    assert (weights.settings.span_limit, weights.settings.goal, weights.settings.passed) == (3, "TOP", "OOV")
    assert search_options(weights).span_limit == 3
    (tmp_path / "rules").write_text(
        "[TOP] ||| <s> ||| <s> ||| 0\n[TOP] ||| [TOP,1] [A,2] ||| [TOP,1] [A,2] ||| 0\n"
        "[TOP] ||| [TOP,1] </s> ||| [TOP,1] </s> ||| 0\n"
        "[A] ||| a [OOV,1] ||| [OOV,1] A ||| 0\n[A] ||| a b c d ||| no ||| 0\n[A] ||| b ||| B ||| 0\n"
    )
    translator = ForeignTranslator(read_grammar(tmp_path / "rules", "joshua"), weights, glue=False)
    assert translator.translate("b b b b a new").text == "B B B B new A"  # longer than the limit: that is not for glue
    assert translator.translate("a b c d").problem == "no derivation covers the sentence"
    moses = weights_of(
        tmp_path, "[max-chart-span]\n15\n1000\n" + WEIGHTS["moses"].replace("path=a", "table-limit=7"), "moses"
    )
    assert (search_options(moses).span_limit, search_options(moses).per_source) == (15, 7)
    assert search_options(ForeignWeights("moses", {})).per_source == 20
