"""The sample's notation: what a small grammar derives, and what its loader refuses, to the word."""

import pytest

from treeglot import FormatError
from treeglot.sample.derive import DeadEndError, Deriver
from treeglot.sample.grammar import Grammar
from treeglot.sample.grammar_reader import load_grammar
from treeglot.sample.lexicon import Lexicon, load_lexicon
from treeglot.sample.notation import Place, parse_row, statements
from treeglot.sample.tree import Node

WORDS = """\
[noun NN noun class=food m=个]
苹果 = apple
茶 = tea/- ; class=drink
[verb VV verb]
吃 = eat/ate/eaten ; obj=food
喝 = drink/drank/drunk ; obj=drink
开 = turn prt:(PRT (RP on)) ; obj=none
[time - -]
(NP tmod:(NT 昨天~1) *(NT 下午~2)) = (NP nn:(NN yesterday~1) *(NN afternoon~2))
"""

RULES = """\
start s
labels zh IP VP NP QP CLP NN NT VV AS CD M PU
labels en S VP NP PRT NN NNS NNP VB VBD VBN VBG VBZ VBP DT PRP RP .
relations nsubj dobj asp det nummod clf punct prt nn tmod
category s
category o v:verb n:noun
category extra on
s only
  v ~ verb obj=food
  n ~ noun class=$v.obj
  o = o v=$v n=$n
  x = extra on=yes
  zh (IP nsubj:(NP (NN 人~1)) *(VP *<v> asp:<x> dobj:<o>) punct:(PU 。~2))
  en (S nsubj:(NP (PRP they~1)) *(VP *<v.past> dobj:<o>) punct:(. .~2))
o only n.class=food
  zh (NP nummod:(QP *(CD 一~1) clf:(CLP (M {n.m}))) *(NP <n>))
  en (NP det:(DT a~1) *<n.sg>)
extra le on=yes
  zh (AS 了)
  en -
"""


def lexicon(text: str = WORDS) -> Lexicon:
    return load_lexicon(statements("words.txt", text))


def grammar(rules: str = RULES, words: str = WORDS) -> Grammar:
    return load_grammar(statements("rules.txt", rules), lexicon(words))


def brackets(node: Node) -> str:
    inside = " ".join(brackets(child) for child in node.children) if node.children else node.word
    return f"({node.label} {inside})"


def test_a_derivation() -> None:
    source, target, rules = Deriver(grammar(), 1).derive()
    assert brackets(source) == (
        "(IP (NP (NN 人)) (VP (VV 吃) (AS 了) (NP (QP (CD 一) (CLP (M 个))) (NP (NN 苹果)))) (PU 。))"
    )
    assert brackets(target) == "(S (NP (PRP they)) (VP (VBD ate) (NP (DT an) (NN apple))) (. .))"
    assert [rule.name for rule in rules] == ["only", "only", "le"]


def test_heads_and_relations() -> None:
    source, target, _ = Deriver(grammar(), 1).derive()
    for root, expected in (
        (source, "人>吃:nsubj 吃>-:root 了>吃:asp 一>苹果:nummod 个>一:clf 苹果>吃:dobj 。>吃:punct"),
        (target, "they>ate:nsubj ate>-:root an>apple:det apple>ate:dobj .>ate:punct"),
    ):
        found = {}
        for node in root.preorder():
            if node.governor is not None:
                found[node.head_word().word] = f"{node.governor.head_word().word}:{node.relation}"
        words = [word.word for word in root.words()]
        assert " ".join(f"{word}>{found.get(word, '-:root')}" for word in words) == expected


def test_links() -> None:
    source, target, _ = Deriver(grammar(), 1).derive()
    links = {(a.word, b.word) for a in source.words() for b in target.words() for link in a.links if link in b.links}
    assert links == {("人", "they"), ("吃", "ate"), ("一", "an"), ("苹果", "apple"), ("。", ".")}


def test_random_draws_are_the_same_on_every_python() -> None:
    # The bits of Random.random and nothing else decide: these values may never change.
    rules = RULES.replace("o only n.class=food", "o only (2) n.class=food") + (
        "o bare\n  zh (NP <n>)\n  en (NP <n.pl>)\nextra none on=yes\n  zh -\n  en -\n"
    )
    deriver = Deriver(grammar(rules), 7)
    drawn = ["".join(rule.name[0] for rule in deriver.derive()[2]) for _ in range(12)]
    assert drawn == ["oon", "ool", "obl", "ool", "ool", "oon", "ool", "oon", "obl", "obl", "obl", "obn"]


def test_a_node_above_nothing_but_its_like_is_not_made() -> None:
    rules = RULES.replace("dobj:<o>)", "dobj:(NP <o>))")
    source, target, _ = Deriver(grammar(rules), 1).derive()
    assert brackets(source).count("(NP (NP") == 0
    assert brackets(target).count("(NP (NP") == 0


def test_dead_ends() -> None:
    none = grammar(RULES.replace("o only n.class=food", "o only n.class=drink"))
    with pytest.raises(DeadEndError) as caught:
        Deriver(none, 1).derive()
    assert str(caught.value) == "no rule of 'o' fits v=吃 n=苹果"
    twice = grammar(RULES.replace("  o = o v=$v n=$n\n", "  m ~ noun class=$v.obj\n  o = o v=$v n=$m\n"))
    with pytest.raises(DeadEndError) as caught:
        Deriver(twice, 1).derive()
    assert str(caught.value) == "rule 'only' finds no noun for 'm' with v=吃 n=苹果"


def test_words_of_an_entry_are_linked_by_their_numbers() -> None:
    entry = lexicon().entries["time"][0]
    assert entry.source.links() == {1, 2}
    assert [part.links for part in lexicon().entries["verb"][2].forms["ing"].parts() if hasattr(part, "links")] == [
        (1,),
        (1,),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(NP (NN a)", "the bracket of '(NP' is not closed"),
        ("(NP (NN a)))", "')' closes nothing"),
        ("(NP)", "'(NP)' has neither word nor items"),
        ("apple", "'apple' is a word without a tag; expected (TAG apple)"),
        ("(NP (NN a) b)", "'b' is a word without a tag; expected (TAG b)"),
        ("(NN a (NN b))", "'(NN' has a word and something beside it"),
        ("(NP (NN a) (NN b))", "'(NP' has 2 items and 0 heads; expected one marked '*'"),
        ("(NP *(NN a) *(NN b))", "'(NP' has 2 items and 2 heads; expected one marked '*'"),
        ("(NP *(NN a) (NN b))", "'(NP' has an item that is neither its head nor in a relation to it"),
        ("(NP nn:(NN a))", "'(NP' has one item, its head; it takes no relation 'nn:'"),
        ("(NP <N>)", "'<N>)' is not part of a fragment"),
        ("", "the fragment is empty; expected items, or '-' for none"),
    ],
)
def test_fragments_refused(text: str, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_row(text, Place("rules.txt", 3))
    assert str(caught.value) == f"rules.txt:3: {problem}"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("苹果 = apple", "1: '苹果 = apple' stands before the first [section]"),
        ("[noun NN]", "1: '[noun NN]' is not a section; expected [KIND SOURCE_TAG PARADIGM attribute=value ...]"),
        ("[n NN noun]\n苹果", "2: '苹果' is not an entry; expected CHINESE = ENGLISH ; attribute=value ..."),
        ("[n NN noun]\n苹 果 = apple", "2: '苹 果' has a blank; expected one word, or (TAG word) for each"),
        ("[n NN noun]\n苹果 = apple/apples/appled", "2: 'apple/apples/appled' has 3 forms; a noun has 2"),
        ("[n P IN]\n前 = in front", "2: 'in front' has words without a tag; expected one word, or (TAG word) for each"),
        ("[n NN noun]\n书 = book ; class", "2: 'class' is not understood here; expected NAME=VALUE (signs: =)"),
        ("[n NN noun class=a class=b]", "1: 'class' is given twice"),
        ("[n NN noun]\n书 = book ; class=$x", "2: 'class=$x': an entry's attributes are atoms such as food|drink"),
        ("[n NN noun]\n(NN 书~1) = book", "2: a link number stands on one side only"),
        ("[n NN noun]\n(NP <x>) = book", "2: '<x>' is a site; an entry has words alone"),
        (
            "[n NN noun]\n书 = book ; class=a||b",
            "2: 'a||b' is not a value; expected atoms such as food|drink, or $name or $name.attribute",
        ),
    ],
)
def test_lexicons_refused(words: str, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        lexicon(words)
    assert str(caught.value) == f"words.txt:{problem}"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("s only\n", "s only!\n", "8: 's only!' is not a rule; expected CATEGORY NAME (WEIGHT) attribute=value ..."),
        ("s only\n", "t only\n", "8: category 't' is not declared"),
        ("s only\n", "s only x=1\n", "8: category 's' has no attribute 'x' to ask for"),
        ("extra le on=yes", "o only\n  zh -", "18: category 'o' has two rules 'only'"),
        ("extra le on=yes", "extra le on=$x", "18: 'on=$x': a rule's conditions are atoms such as food|drink"),
        ("o only n.class=food", "o only n.klass=food", "15: no noun of the lexicon has an attribute 'klass'"),
        ("o only n.class=food", "o only n.class=fod", "15: no noun of the lexicon has class=fod"),
        ("category s\n", "category s\ncategory s\n", "6: category 's' is declared twice"),
        ("v:verb n:noun", "v:verb n:nuon", "6: the lexicon has no kind 'nuon'"),
        ("category s\n", "  zh -\n", "5: an indented line before the first rule"),
        ("  v ~ verb obj=food", "  v ~ verd", "9: the lexicon has no kind 'verd'"),
        ("  v ~ verb obj=food", "  v ~ verb objs=food", "9: no verb of the lexicon has an attribute 'objs'"),
        ("  v ~ verb obj=food", "  v ~ verb obj=food obj=b", "9: 'obj' is given twice"),
        (
            "  v ~ verb obj=food",
            "  v ? verb",
            "9: 'v ? verb' is not understood; expected NAME ~ DRAW, NAME = CATEGORY ..., zh or en",
        ),
        (
            "  v ~ verb obj=food",
            "  v ~ {a:x}",
            "9: '{a:x}' is not a choice; expected atoms with weights such as {sg:3 pl:1}",
        ),
        ("class=$v.obj", "class=$w.obj", "10: '$w.obj': rule 'only' binds no 'w' before this line"),
        ("class=$v.obj", "class=$v.objs", "10: '$v.objs': 'v' holds no entry with an attribute 'objs'"),
        ("  n ~ noun class=$v.obj", "  v ~ noun", "10: 'v' is bound twice in rule 'only'"),
        ("  o = o v=$v n=$n", "  o = p v=$v n=$n", "8: site 'o' asks for 'p', which is not declared"),
        ("  o = o v=$v n=$n", "  o = o v=$v", "8: site 'o': category 'o' needs 'n'"),
        ("  o = o v=$v n=$n", "  o = o v=$v n=$n k=1", "8: site 'o': category 'o' has no attribute 'k'"),
        ("asp:<x>", "asp:<y>", "8: rule 'only' binds no 'y' for the site '<y>'"),
        ("<v.past>", "<v.pasd>", "8: '<v.pasd>': no verb of the lexicon has that form"),
        ("<v.past>", "<v.$f>", "8: rule 'only' binds no atom 'f' for '<v.$f>'"),
        ("{n.m}", "{k.m}", "15: rule 'only' binds no entry 'k'"),
        ("{n.m}", "{n.l}", "15: no noun of the lexicon has an attribute 'l'"),
        ("dobj:<o>) punct:(PU", "dobj:<n>) punct:(PU", "8: rule 'only' has no site 'o' on side 'zh'"),
        ("*<v> asp:<x>", "*<v> asp:<v>", "8: rule 'only' has site 'v' twice on side 'zh'"),
        ("*<v> asp:<x>", "*(VV 吃) asp:<x>", "8: rule 'only' has entry 'v' on one side, not on side 'zh'"),
        ("they~1", "they", "8: rule 'only' has a link number on one side only"),
        ("(AS 了)", "(AX 了)", "19: 'AX' is not among the declared zh labels"),
        ("asp:<x>", "asd:<x>", "13: 'asd' is not among the declared relations"),
        ("labels en S VP NP PRT", "labels en S VP NP", "words.txt:7: 'PRT' is not among the declared en labels"),
        ("  en -\n", "", "18: rule 'le' has no side 'en'"),
        ("  en -\n", "  en -\n  en -\n", "21: rule 'le' has two sides 'en'"),
        ("start s", "start t", "1: start category 't' is not declared"),
        ("category s\n", "category s\ncategory t\n", "6: category 't' has no rules"),
        ("category s\n", "category s\ncategory t\nt x\n  zh -\n  en -\n", "6: nothing asks for category 't'"),
    ],
)
def test_grammars_refused(old: str, new: str, problem: str) -> None:
    assert old in RULES
    with pytest.raises(FormatError) as caught:
        grammar(RULES.replace(old, new, 1))
    assert str(caught.value) == (problem if problem.startswith("words") else f"rules.txt:{problem}")
