"""The rules that can meet a sentence, from a rule table of all pairs: what rules on demand must be."""

from collections import defaultdict

from treeglot.rules import compile_table, extract, open_table, score_rules
from treeglot.rules.on_demand import COLUMNS
from treeglot.rules.table import CompileOptions

VARIABLE = 1 << 31


def covers(side, words) -> bool:
    """Whether a source side can stand for exactly these words: a variable (None) for one or more."""
    if not side:
        return not words
    if side[0] is None:
        return any(covers(side[1:], words[length:]) for length in range(1, len(words) + 1))
    return bool(words) and words[0] == side[0] and covers(side[1:], words[1:])


def meets(side, sentence, span_limit) -> bool:
    """Whether a source side can stand for words of a sentence, at most so many."""
    spans = ((b, e) for b in range(len(sentence)) for e in range(b + 1, min(len(sentence), b + span_limit) + 1))
    return any(covers(side, sentence[begin:end]) for begin, end in spans)


def rules_of(table):
    """{source: [(target, links, features)]} with words as text and variables as None, or by number."""
    found = defaultdict(list)
    for rule in range(len(table)):
        _, source, target, features, links = table.rule(rule)
        side = tuple(None if symbol >= VARIABLE else table.source_words[symbol] for symbol in source)
        other = tuple(symbol if symbol < 0 else table.target_words[symbol] for symbol in target)
        found[side].append((other, links, dict(zip(table.features, features, strict=True))))
    return dict(found)


def slow_rules(pairs, sentence, span_limit, extraction, score, folder):
    """The same, by extracting, scoring and compiling all rules of the pairs."""
    made = extract("hiero", pairs, folder / "counts", extraction)
    score_rules(made, folder / "rules.parquet", score)
    compile_table(folder / "rules.parquet", folder / "rules.table", CompileOptions(features=COLUMNS))
    table = open_table(folder / "rules.table")
    return {side: rules for side, rules in rules_of(table).items() if meets(side, sentence, span_limit)}
