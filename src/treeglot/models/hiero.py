"""Hiero (Chiang 2005, 2007): hierarchical phrases without syntax, the string-to-string baseline."""

from __future__ import annotations

from treeglot.models.kind import Kind
from treeglot.rules.sql import ScoreOptions

# Tuning starts from these values, and an untuned model uses them. The language model and the probabilities of both
# directions count. The word penalty makes up for the language model's cost of a word, and glue costs a little.
WEIGHTS = {
    "p_target_given_source": 0.2,
    "p_source_given_target": 0.2,
    "lex_target_given_source": 0.1,
    "lex_source_given_target": 0.1,
    "lm": 0.5,
    "word_penalty": 1.0,
    "rule_penalty": -0.1,
    "glue": -0.1,
    "unknown": -10.0,
}


# Kneser-Ney: on Chinese-English, three tunings by MERT each, 26.0 BLEU on dev instead of 25.5, and 24.7 on test in
# place of 24.3 (bench/RESULTS.md).
SMOOTHED = ScoreOptions(smoothing="kneser-ney")

HIERO_KINDS = (
    Kind(
        name="hiero",
        summary="hierarchical phrases, no syntax",
        weights=WEIGHTS,
        extractor="hiero",
        files=("source", "target", "alignments"),
        defaults={"score": SMOOTHED},
    ),
)
