"""A small n-gram model, for tests that decode."""

import math

from treeglot._core import ArpaReader, NgramLayout, NgramModel

# A trigram model of the target words but one, so that unknown words occur.
ARPA = r"""\data\
ngram 1=5
ngram 2=6
ngram 3=3

\1-grams:
-1.5	<unk>
0	<s>	-0.4
-0.9	</s>
-0.6	u	-0.3
-0.7	v	-0.2

\2-grams:
-0.3	<s> u	-0.1
-0.8	u v	-0.5
-0.4	v u	-0.25
-0.2	u </s>
-1.1	v v	0
-0.5	<s> v

\3-grams:
-0.15	<s> u v
-0.05	u v u
-0.35	v u </s>

\end\
"""


def model() -> NgramModel:
    reader = ArpaReader("test.arpa")
    reader.feed(ARPA.encode())
    return reader.finish(NgramLayout.fast)


LM = model()


def log_probability(words: tuple[str, ...]) -> float:
    """Of a whole sentence, natural."""
    ids, offsets = LM.encode([" ".join(words)])
    return math.log(10) * float(LM.score_texts(ids, offsets)[0])


def unknown_words(words: tuple[str, ...]) -> int:
    """How many the model does not know."""
    return sum(LM.id(word) == 0 for word in words)
