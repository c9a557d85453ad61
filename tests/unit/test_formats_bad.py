"""Bad inputs, one by one, and what is said of them."""

import pytest

from treeglot import FormatError
from treeglot.syntax import FORMATS
from treeglot.syntax.formats import READ_ONLY

WORDS = "sentence 1 :\na b\n"
TAGS = WORDS + "A[0,0] => a ||| 0\nB[1,1] => b ||| 0\n"
JSON = (
    '{"words": ["a"], "scores": "posterior", "goal": 1, "nodes": [{"label": "X", "span": [0, 1], "edges": [[-1, 0]]}]}'
)


def word(id: int | str, form: str = "a", head: str = "0", tag: str = "_") -> str:
    return f"{id}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t_\t_\t_\n"


BAD: list[tuple[str, str | bytes, int, str]] = [
    ("text", "a b\na \tb\n", 2, "a tab at byte 3; expected tokens separated by blanks"),
    ("text", "a\tb\n", 1, "a tab at byte 2; expected tokens separated by blanks"),
    ("text", "a\r b\r\n", 1, "a carriage return at byte 2 within the line; expected one at its end only"),
    ("text", "a b\0\n", 1, "a NUL at byte 4; expected text"),
    ("text", b"a\nb \xff\n", 2, "the byte 0xff at byte 3 is not UTF-8"),
    ("text", b"\xe4\xb8\n", 1, "the byte 0xe4 at byte 1 is not UTF-8"),
    ("text", b"\xed\xa0\x80\n", 1, "the byte 0xed at byte 1 is not UTF-8"),
    ("text", b"\xef\xbb\xbfa\n", 1, "begins with a byte order mark; expected text"),
    ("brackets", "(S a)\n(S (NP b)\n", 2, "the tree that begins here is not closed at the end of the file"),
    ("brackets", "(S (NP a)\n(S b)\n", 1, "the tree that begins here is still open at line 2, where another begins"),
    ("brackets", "(S a))\n", 1, "')' after the end of a tree; expected a new line"),
    ("brackets", "(S a) (S b)\n", 1, "'(S b)' after the end of a tree; expected a new line"),
    ("brackets", "S a\n", 1, "'S' outside a tree; expected a bracket"),
    ("brackets", ")\n", 1, "a closing bracket where a tree should begin"),
    ("brackets", "(S)\n", 1, "the node 'S' has no children"),
    ("brackets", "(S ())\n", 1, "an empty bracket inside a tree"),
    ("brackets", "(S ((NP a)))\n", 1, "a bracket without a label inside a tree"),
    ("brackets", "((S a) (S b))\n", 1, "a second tree in one outer bracket"),
    ("brackets", "(((S a)))\n", 1, "more than one outer bracket without a label"),
    ("brackets", "( (S a) b)\n", 1, "'b' outside a tree; expected a bracket"),
    ("egret", "time flies\n", 1, "'time flies'; expected a forest that begins with 'sentence 1 :'"),
    ("egret", "sentence x :\n", 1, "'sentence x :'; expected a forest that begins with 'sentence 1 :'"),
    (
        "egret",
        WORDS + "A[0,0] => a ||| 0\n",
        1,
        "the forest that begins here is cut off at the end of the file; expected an empty line after it",
    ),
    (
        "egret",
        WORDS + "A[0,0] => a ||| 0\nsentence 2 :\n",
        1,
        "the forest that begins here has no empty line after it before line 4, where another begins",
    ),
    (
        "egret",
        WORDS + "A[0,0] a 0\n\n",
        3,
        "'A[0,0] a 0'; expected an edge such as 'NP[0,1] => DT[0,0] NN[1,1] ||| -0.5', or an empty line",
    ),
    ("egret", WORDS + "A => a ||| 0\n\n", 3, "'A' is not a node; expected LABEL[FIRST,LAST] such as NP[0,1]"),
    ("egret", WORDS + "A[0,0] => a ||| high\n\n", 3, "'high' is not a score; expected a number such as -0.5"),
    ("egret", WORDS + "A[0,0] => a ||| nan\n\n", 3, "'nan' is not a score; expected a number such as -0.5"),
    ("egret", WORDS + "A[0,2] => a ||| 0\n\n", 3, "the node 'A[0,2]' in a sentence with 2 words"),
    ("egret", WORDS + "A[0,0] => b ||| 0\n\n", 3, "the word 'b' below 'A[0,0]'; the sentence has 'a' there"),
    ("egret", WORDS + "A[0,1] => a ||| 0\n\n", 3, "the word 'a' below 'A[0,1]'; the sentence has 'a' there and more"),
    (
        "egret",
        WORDS + "A[00,0] => a ||| 0\n\n",
        3,
        "'A[00,0]' is not a node; expected LABEL[FIRST,LAST] such as NP[0,1]",
    ),
    (
        "egret",
        WORDS + "A[0,1] => a B[1,1] ||| 0\n\n",
        3,
        "'a' is not a node; expected LABEL[FIRST,LAST] such as NP[0,1]",
    ),
    ("egret", WORDS + "A[0,1] => B[1,1] B[0,0] ||| 0\n\n", 3, "the tail 'B[1,1]' of 'A[0,1]' begins at 1; expected 0"),
    ("egret", WORDS + "A[0,1] => B[0,0] ||| 0\n\n", 3, "the tails of 'A[0,1]' end at 0; expected 1"),
    ("egret", WORDS + "A[0,1] => B[0,0] C[1,1] ||| 0\nB[0,0] => a ||| 0\n\n", 3, "the tail 'C[1,1]' is never a head"),
    ("egret", TAGS + "\n", 1, "no root; expected a node over all words that is no tail"),
    (
        "egret",
        TAGS + "S[0,1] => A[0,0] B[1,1] ||| 0\nT[0,1] => A[0,0] B[1,1] ||| 0\n\n",
        1,
        "two nodes over the whole sentence that are no tails, 'S[0,1]' and 'T[0,1]'; expected one root",
    ),
    (
        "egret",
        TAGS
        + "S[0,1] => A[0,0] B[1,1] ||| 0\nS[0,1] => T[0,1] ||| 0\nT[0,1] => S[0,1] ||| 0\nTOP[0,1] => S[0,1] ||| 0\n\n",
        5,
        "the node 'S[0,1]' derives itself through unary edges",
    ),
    ("egret", "sentence 1 :\na\tb\n\n", 2, "a tab at byte 2; expected tokens separated by blanks"),
    ("jsonl", "\n", 1, "an empty line; expected a forest"),
    ("jsonl", "[]\n", 1, "'[]' at byte 1; expected '{'"),
    (
        "jsonl",
        '{"words": 一个房间一个房间一个房间一个房间一个房间}\n',
        1,
        "'一个房间一个房间一个房间一个房间一个房间…' at byte 11; expected '['",
    ),
    ("jsonl", JSON + "]\n", 1, "']' at byte 114; expected the end of the line"),
    ("jsonl", JSON.replace("words", "word"), 1, "the key 'word' in a forest; known: words, scores, goal, nodes"),
    ("jsonl", JSON.replace('"goal": 1, ', ""), 1, "a forest without the key 'goal'"),
    ("jsonl", JSON.replace('"goal": 1, ', '"goal": 1, "goal": 1, '), 1, "the key 'goal' twice in a forest"),
    (
        "jsonl",
        JSON.replace("posterior", "certain"),
        1,
        "scores of the kind 'certain'; expected conditional, posterior or arbitrary",
    ),
    ("jsonl", JSON.replace("-1, 0", "-1, 7"), 1, "edge into node 1 has tail 7: tails must be built before heads"),
    ("jsonl", JSON.replace("[-1, 0]", "[01, 0]"), 1, "'01, 0]]}]}' at byte 104; expected a number"),
    ("jsonl", JSON.replace("-1, 0", "NaN, 0"), 1, "'NaN, 0]]}]}' at byte 104; expected a number"),
    ("jsonl", JSON.replace('"goal": 1', '"goal": 9'), 1, "the goal is node 9 of a graph with 2 nodes"),
    (
        "jsonl",
        JSON.replace('"goal": 1', '"goal": null'),
        1,
        "a forest with nodes and the goal null; expected the number of a node",
    ),
    (
        "jsonl",
        JSON.replace('"X"', '"\\ud800"'),
        1,
        '\'\\ud800", "span": [0, 1], "edges": [[-1, 0]]}]}\' at byte 73; expected a whole surrogate pair',
    ),
    (
        "jsonl",
        JSON.replace('"X"', '"\\x"'),
        1,
        '\'x", "span": [0, 1], "edges": [[-1, 0]]}]}\' at byte 74; expected an escape such as \\n or \\u00e9',
    ),
    ("jsonl", JSON.replace('"X"', '""'), 1, "node 1 has an empty label"),
    ("jsonl", JSON.replace("[0, 1]", "[0, 2]"), 1, "the tails of an edge into node 1 'X' over [0,2) end at 1"),
    (
        "jsonl",
        JSON.replace("[0, 1]", "[0, -1]"),
        1,
        "'-1], \"edges\": [[-1, 0]]}]}' at byte 89; expected an integer from 0 to 4294967295",
    ),
    ("jsonl", JSON.replace("[[-1, 0]]", "[]"), 1, "node 1 'X' over [0,1) has no edges"),
    ("jsonl", JSON[:40], 1, "the end at byte 41; expected a string"),
    ("jsonl", JSON.replace('"span"', '"spam"'), 1, "the key 'spam' in a node; known: label, span, edges"),
    ("conllu", "1\ta\n", 1, "2 columns; expected 10, separated by tabs"),
    ("conllu", word(1) + word(3), 2, "the word ID '3'; expected 2"),
    ("conllu", word("x"), 1, "the word ID 'x'; expected 1"),
    ("conllu", word(1, head="2") + "\n", 1, "HEAD is '2' in a sentence with 1 word"),
    ("conllu", word(1, head="1") + "\n", 1, "word 1 is its own head"),
    ("conllu", word(1, head="-1") + "\n", 1, "HEAD is '-1'; expected a word ID, 0 or _"),
    ("conllu", word(1) + "\n\n", 3, "a blank line; expected a sentence"),
    ("conllu", "# c\n\n" + word(1), 2, "a sentence without words"),
    ("conllu", word(1) + "# c\n", 2, "a comment inside a sentence; expected it before the first word"),
    ("conllu", word(1, form=""), 1, "an empty FORM; expected _ for none"),
    ("conllu", word("2-3"), 1, "the multiword ID '2-3'; expected a range of words that begins at 1"),
    ("conllu", word("1-2") + word(1) + "\n", 1, "a multiword token up to word 2 of a sentence with 1"),
    ("conllu", word("1-2") + word(1) + word("2-3"), 3, "the multiword ID '2-3' overlaps with the one before"),
    ("conllu", word(1) + word("1.2"), 2, "the empty node ID '1.2'; expected 1.1"),
    ("conllu", word("0.0"), 1, "the empty node ID '0.0'; expected 0.1"),
    ("conllu", word("1-"), 1, "the multiword ID '1-'; expected a range of words that begins at 1"),
    ("conllx", word("1-2"), 1, "the word ID '1-2'; expected 1"),
    ("conllx", word("1.1"), 1, "the word ID '1.1'; expected 1"),
    ("conllx", word(1, form="a b"), 1, "a blank in FORM 'a b'"),
    ("conllx", word(1, tag=""), 1, "an empty CPOSTAG; expected _ for none"),
    ("conllx", "1 a _ _ _ _ 0 _ _ _\n", 1, "1 column; expected 10, separated by tabs"),
    ("lattice", '{"arc": []}\n', 1, "the key 'arc' in a lattice; expected arcs alone"),
    ("lattice", '{"arcs": [[0, 1, "", 0]]}\n', 1, "a lattice without words; expected at least one"),
    ("lattice", '{"arcs": [[0, 0, "a", 0]]}\n', 1, "an arc from node 0 to node 0; expected a later node"),
    ("lattice", '{"arcs": [[1, 0, "a", 0]]}\n', 1, "an arc from node 1 to node 0; expected a later node"),
    ("lattice", '{"arcs": [[0, 2, "a", 0], [1, 2, "a", 0]]}\n', 1, "no arc leads to node 1; expected one"),
    (
        "lattice",
        '{"arcs": [[0, 1, "a", 0], [0, 2, "a", 0]]}\n',
        1,
        "no arc leaves node 1, which is not the last; expected one",
    ),
    (
        "lattice",
        '{"arcs": [[0, 4000000000, "a", 0]]}\n',
        1,
        "an arc from node 0 to node 4000000000, among 1 arcs; expected an arc to every node",
    ),
    ("lattice", '{"arcs": [[0, 1, "a b", 0]]}\n', 1, "'a b' is not a token; expected text without blanks"),
    ("lattice", '{"arcs": [[0, 1, "a", NaN]]}\n', 1, "'NaN]]}' at byte 23; expected a number"),
    ("lattice", b'{"arcs": [[0, 1, "\xff", 0]]}\n', 1, "the byte 0xff at byte 19 is not UTF-8"),
    ("plf", "das Haus\n", 1, "byte 1: found 'das Haus'; expected a lattice, ("),
    (
        "plf",
        "((('a',1.0,1),),)\n((('a',1.0,1),),(),)\n",
        2,
        "byte 18: found ')'; expected an arc in every node",
    ),
    ("plf", "((('a',1,1),),\n", 1, "byte 15: found the end of the line; expected a node of arcs, ("),
    ("plf", "((('a',1,1),),) b\n", 1, "byte 17: found 'b'; expected the end of the line"),
    ("plf", "((('a',1,1)('b',1,1),),)\n", 1, "byte 12: found '('b',1,1),),)'; expected , or )"),
    ("plf", "(((a,1,1),),)\n", 1, "byte 4: found 'a,1,1),),)'; expected a word in quotes"),
    ("plf", "((('a,1,1),),)\n", 1, "byte 15: found the end of the line; expected the end of a word, '"),
    ("plf", "((('a' 1,1),),)\n", 1, "byte 8: found '1,1),),)'; expected , and a score"),
    ("plf", "((('a b',1,1),),)\n", 1, "'a b' is not a token; expected text without blanks"),
    ("plf", "((('a',nan,1),),)\n", 1, "byte 8: found 'nan'; expected a score, one finite number"),
    ("plf", "((('a',1e999,1),),)\n", 1, "byte 8: found '1e999'; expected a score, one finite number"),
    ("plf", "((('a',.,1),),)\n", 1, "byte 8: found '.'; expected a score, one finite number"),
    ("plf", "((('a',+-.5,1),),)\n", 1, "byte 8: found '+-.5'; expected a score, one finite number"),
    (
        "plf",
        "((('a',-0.2,1),),)\n",
        1,
        "byte 8: found '-0.2'; expected a probability from 0 to 1; scores=log and scores=cost read other scores",
    ),
    ("plf", "((('a',1,0),),)\n", 1, "byte 10: found '0'; expected a distance of at least 1"),
    ("plf", "((('a',1,-1),),)\n", 1, "byte 10: found '-1'; expected a distance of at least 1"),
    ("plf", "((('a',1,x),),)\n", 1, "byte 10: found 'x'; expected a distance of at least 1"),
    ("plf", "((('a',1,2),),)\n", 1, "byte 10: found '2'; expected a distance of at most 1, to the end of the lattice"),
    ("plf", "((('a',1,2),),(('b',1,1),),)\n", 1, "no arc leads to node 1; expected one"),
    (
        "plf",
        "((('a',0.5,0.5,1),),)\n",
        1,
        "byte 15: found ',1),),)'; expected ), after a word, one score and a distance",
    ),
    ("plf", "((('a',{'b':1},1),),)\n", 1, "byte 8: found '{'b':1}'; expected a score, one finite number"),
    ("plf", b"((('\xff',1,1),),)\n", 1, "the byte 0xff at byte 5 is not UTF-8"),
    ("pharaoh", "0-0\n1:2\n", 2, "'1:2' is not a link; expected SOURCE-TARGET such as 3-0"),
    ("pharaoh", "0-0/1.0\n", 1, "'0-0/1.0' is not a link; expected SOURCE-TARGET such as 3-0"),
    ("pharaoh", "0-0  1-1\n", 1, "an empty link; expected links separated by one blank"),
    ("pharaoh", " 0-0\n", 1, "an empty link; expected links separated by one blank"),
    ("pharaoh", "-1-0\n", 1, "'-1-0' is not a link; expected SOURCE-TARGET such as 3-0"),
    ("pharaoh", "0-0\t1-1\n", 1, "'0-0\\x091-1' is not a link; expected SOURCE-TARGET such as 3-0"),
    ("pharaoh", "0-4294967296\n", 1, "'0-4294967296' is not a link; expected SOURCE-TARGET such as 3-0"),
    ("pharaoh", "0-\n", 1, "'0-' is not a link; expected SOURCE-TARGET such as 3-0"),
]


@pytest.mark.parametrize(("name", "data", "line", "problem"), BAD)
def test_bad_input(name: str, data: str | bytes, line: int, problem: str) -> None:
    reader = {**FORMATS, **READ_ONLY}[name].open_reader("dev.file", False, {})
    with pytest.raises(FormatError) as caught:
        reader.feed(data if isinstance(data, bytes) else data.encode())
        while True:
            assert reader.finish()
    assert (caught.value.file, caught.value.line, caught.value.problem) == ("dev.file", line, problem)
    assert str(caught.value) == f"dev.file:{line}: {problem}"


@pytest.mark.parametrize("filler", ["a", "é", "图", "😀", "a图", "é 😀b"])
def test_bytes_are_checked_at_every_place(filler: str) -> None:
    """Lines are checked eight bytes at once where that is possible: each place in a word of eight bytes counts."""
    good = ["\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]
    bad = [b"\0", b"\r", b"\x80", b"\xbf", b"\xc1\xbf", b"\xc3", b"\xe0\x9f\xbf", b"\xe5\x9b", b"\xed\xa0\x80"]
    bad += [
        b"\xed\xbf\xbf",
        b"\xe5\x9b\xc3",
        b"\xe5\x1b\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf5",
        b"\xff",
    ]
    for before in range(18):
        begin = (filler * 18)[:before]
        for end in ("z", "zz", "图z" * 3, "z" * 9):
            lines = [begin + one + end for one in good]
            reader = FORMATS["text"].open_reader("", False, {})
            read = reader.feed("\n".join(lines).encode() + b"\n") + reader.finish()
            assert read == [[token for token in line.split(" ") if token] for line in lines]
            reader = FORMATS["text"].open_reader("", True, {})
            reader.feed(b"\n".join(begin.encode() + one + end.encode() for one in bad) + b"\n")
            place = len(begin.encode()) + 1
            problems = [problem for _, problem in reader.problems]
            assert problems[:2] == [
                f"a NUL at byte {place}; expected text",
                f"a carriage return at byte {place} within the line; expected one at its end only",
            ]
            assert problems[2:] == [f"the byte 0x{one[0]:02x} at byte {place} is not UTF-8" for one in bad[2:]]
