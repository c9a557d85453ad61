"""A decoder without a grammar: fixed candidates for every sentence, whose quality follows weights that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treeglot.tune.kbest import KBest


class LogLinear:
    """Sentence i is the line "i". The better a candidate scores with the best weights, the fewer words of it are wrong.

    So no weights give a higher BLEU than `best`: with them every sentence gets a translation that no other one beats in
    any of the counts.
    """

    def __init__(self, sentences: int = 100, candidates: int = 60, features: int = 6, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.names = [f"f{i}" for i in range(features)]
        scales = 10.0 ** rng.uniform(-1, 1, features)  # features are not of one size
        weights = rng.choice([-1.0, 1.0], features) * rng.uniform(0.3, 1.0, features)
        self.best: dict[str, float] = dict(zip(self.names, (weights / scales).tolist(), strict=True))
        self.features = rng.normal(size=(sentences, candidates, features)) * scales
        self.lines = [str(i) for i in range(sentences)]
        self.references: list[str] = []
        self.texts: list[list[str]] = []
        for sentence in range(sentences):
            length = int(rng.integers(8, 20))
            reference = [f"w{word}" for word in rng.integers(0, 500, length)]
            self.references.append(" ".join(reference))
            ranks = np.argsort(np.argsort(-self.features[sentence] @ (weights / scales)))
            texts = []
            order = rng.permutation(length)
            for candidate in range(candidates):
                # A worse candidate has the errors of the better ones and more.
                wrong = order[: 1 + ranks[candidate] * (length - 2) // candidates]
                words = ["x" if i in wrong else word for i, word in enumerate(reference)]
                texts.append(" ".join(words))
            self.texts.append(texts)

    signature = "log-linear"

    def translate(self, lines: Sequence[str], weights: Mapping[str, float], kbest: int, hopes: object = None) -> KBest:
        dense = np.array([weights.get(name, 0.0) for name in self.names])
        lists = []
        for line in lines:
            sentence = int(line)
            order = np.argsort(-(self.features[sentence] @ dense), kind="stable")[:kbest]
            lists.append(
                [
                    (self.texts[sentence][i], dict(zip(self.names, self.features[sentence, i].tolist(), strict=True)))
                    for i in order.tolist()
                ]
            )
        return KBest.of(lists)
