"""Lets the tuning loop decode with a trained model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treeglot import _core
from treeglot.decode import Translator
from treeglot.decode.translator import Source
from treeglot.decode.weights import Weights
from treeglot.tune.hopes import Hopes
from treeglot.tune.kbest import KBest


class DecoderTranslator:
    """A system for the tuning loop: it translates with the tables and the search of a translator, and with any weights.

    With `distinct`, lists contain each text once, with its best derivation. Otherwise, most entries of a list have the
    same text.
    """

    def __init__(
        self,
        translator: Translator,
        signature: str,
        *,
        distinct: bool = True,
        threads: int = 1,
        refused: Callable[[int, str], None] = lambda line, problem: None,
    ) -> None:
        """Create a system. `signature` identifies its model.

        `refused` is called with each line that cannot be translated, and the reason.
        """
        self.translator = translator
        self.signature = f"{signature}, {translator.options}, distinct={distinct}"
        self.distinct = distinct
        self.threads = threads
        self.refused = refused

    def translate(self, sources: Sequence[Source], weights: Weights, kbest: int, hopes: Hopes | None = None) -> KBest:
        """Return the best translations of each source with their features.

        Requested hopes and fears come after them.
        """
        decoder = self.translator.with_weights(weights).core
        names, first, texts, first_feature, features, values, scores, problems = _core.decode_kbest(
            decoder, list(sources), kbest, self.distinct, self.threads, hopes.references if hopes else [], hopes
        )
        for line, problem in problems:
            self.refused(line, problem)
        return KBest(names, first, texts, first_feature, features, values, scores)
