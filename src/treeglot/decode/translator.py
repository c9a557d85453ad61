"""Combines a rule table, a language model and weights into a translator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from treeglot import _core
from treeglot._core import Hypothesis, Step, Terms
from treeglot.base.errors import FormatError, OptionError, UsageError
from treeglot.decode.confidence import LIST, PROBABILITIES, Confidence, ConfidenceModel
from treeglot.decode.consensus import ConsensusOptions, ranked
from treeglot.decode.context import ContextWords
from treeglot.decode.matchers import Setup, match_strings
from treeglot.decode.search import SearchOptions
from treeglot.decode.translation import SearchForest, Translation
from treeglot.syntax import Dependency, ParseForest
from treeglot.syntax.lattice import Lattice, LatticeForest

if TYPE_CHECKING:
    from treeglot.lm import NgramModel


Source: TypeAlias = str | Sequence[str] | ParseForest | Dependency | Lattice | LatticeForest
Rules: TypeAlias = _core.RuleTable | Mapping[str, _core.RuleTable]
NEURAL = "neural"  # the feature of a neural joint model


def network_feature(name: str) -> str:
    """Return the feature of a network by its name. The name of the first network is empty.

    >>> network_feature(""), network_feature("lexical")
    ('neural', 'neural_lexical')
    """
    return f"{NEURAL}_{name}" if name else NEURAL


class Translator:
    """Translates tokenised sentences, or their parses.

    `table` contains the rules, or maps the names of several grammars to their tables. With several grammars, the
    features of each begin with its name and a dot, and `setup` builds one matcher for all (`match_joint`).

    `weights` maps the names of features to numbers. The features are those of the table, `word_penalty`,
    `rule_penalty`, `glue` and `unknown`. A language model adds `lm` (natural logarithm) and `lm_unknown`. Models in
    `lms` add `lm_NAME` and `lm_NAME_unknown`; models over classes add only `lm_NAME`. A neural joint model adds
    `neural`, and networks in `networks` add `neural_NAME`. With `context`, pairs of linked words have features for the
    neighbouring source word (`treeglot.decode.context`). `unknown_weights` lists names without a feature. `setup` adds
    features of the kind of model, and returns the matcher for its input. All names except those of the table begin with
    `prefix`. If the table has a feature of the same name, both values are added.
    """

    def __init__(
        self,
        table: Rules,
        weights: Mapping[str, float],
        lm: NgramModel | None = None,
        options: SearchOptions = SearchOptions(),  # noqa: B008 - it is frozen
        setup: Setup = match_strings(),  # noqa: B008
        *,
        lms: Mapping[str, NgramModel] = {},
        neural: _core.JointModel | None = None,
        networks: Mapping[str, _core.JointModel] = {},
        context: ContextWords | None = None,
        prefix: str = "",
    ) -> None:
        self.tables = {"": table} if isinstance(table, _core.RuleTable) else dict(table)  # by grammar
        self.lm = lm
        self.lms = dict(lms)
        self.neural = neural
        self.networks = dict(networks)
        self.context = context
        self.options = options
        self.setup = setup
        self.prefix = prefix
        self.weights = dict(weights)
        self.judge: ConfidenceModel | None = None  # what says how sure a translation is
        one = self.tables.get("")
        self._features = features = (
            _core.FeatureSet(list(self.tables.items())) if one is None else _core.FeatureSet(one, prefix)
        )
        if lm is not None:
            features.add_ngram(lm.core)
        for name, more in self.lms.items():
            features.add_ngram(more.core, f"lm_{name}")
        if neural is not None:
            features.add_joint(neural, NEURAL)
        for name, network in self.networks.items():
            features.add_joint(network, network_feature(name))
        if context is not None:
            features.add_context(context.source, context.target)
        matcher = setup(features, options)
        for name, network in {**({} if neural is None else {"": neural}), **self.networks}.items():
            if network.facts["heads"] and not features.trees:
                problem = f"{network_feature(name)} is a network over heads, and outputs have no dependency trees"
                raise OptionError(f"{problem}; expected a setup with dependency models")
        self.left_out = matcher.left_out  # rules that are never used, because they would close a cycle of labels
        try:
            self._decoder = _core.Decoder(features, matcher, list(self.weights.items()), options)
        except FormatError:  # a damaged file
            raise
        except ValueError as error:
            raise OptionError(str(error)) from error

    @property
    def table(self) -> _core.RuleTable:
        """The rule table, or for joint models one table for each grammar."""
        if "" not in self.tables:
            raise UsageError("a joint model has several rule tables; expected one of the models that it is made of")
        return self.tables[""]

    @property
    def rules(self) -> int:
        """The number of rules, without rules from corrections."""
        return sum(table.own_rules for table in self.tables.values())

    @property
    def core(self) -> _core.Decoder:
        """The decoder of the core that does the work."""
        return self._decoder

    def with_weights(self, weights: Mapping[str, float]) -> Translator:
        """Return a translator with other weights. It shares the table and the language model."""
        return self._other(self._rules, weights, self.options)

    def with_search(self, options: SearchOptions) -> Translator:
        """Return a translator with other search options."""
        return self._other(self._rules, self.weights, options)

    def with_table(self, table: _core.RuleTable, weights: Mapping[str, float] | None = None) -> Translator:
        """Return a translator with other rules, and optionally with other weights."""
        return self._other(table, self.weights if weights is None else weights, self.options)

    def with_setup(self, table: _core.RuleTable, setup: Setup) -> Translator:
        """Return a translator with other rules and another setup to match them."""
        return self._other(table, self.weights, self.options, setup)

    @property
    def _rules(self) -> Rules:
        return self.tables.get("", self.tables)

    def _other(
        self, table: Rules, weights: Mapping[str, float], options: SearchOptions, setup: Setup | None = None
    ) -> Translator:
        matched = setup or self.setup
        other = Translator(
            table,
            weights,
            self.lm,
            options,
            matched,
            lms=self.lms,
            neural=self.neural,
            networks=self.networks,
            context=self.context,
            prefix=self.prefix,
        )
        other.judge = self.judge
        return other

    @property
    def features(self) -> list[str]:
        """The names of all features, without members of families such as `subst_f[X→Y]` and `left=c|f→e`."""
        return self._decoder.features

    @property
    def makes_trees(self) -> bool:
        """Whether the outputs have dependency trees."""
        return self._features.trees

    @property
    def unknown_weights(self) -> list[str]:
        """The weights whose names match no feature."""
        return list(self._decoder.unknown_weights)

    def translate(
        self,
        source: Source,
        constraints: _core.TargetConstraints | None = None,
        terms: Terms = Terms(),  # noqa: B008 - it does not change
    ) -> Translation:
        """Translate one sentence, given as tokens in a string or a list, or as a forest, tree or lattice.

        `constraints` restrict the output (`treeglot.decode.constraints`). `terms` are spans with given translations,
        and phrases that must not appear.
        """
        found = Translation(self._decoder.translate(source, constraints, terms), self)
        return self._chosen(found, found.kbest(self.options.mbr, distinct=True), 1) if self.options.mbr else found

    def translate_batch(
        self,
        sources: Iterable[Source],
        kbest: int = 1,
        distinct: bool = False,
        threads: int = 1,
        constraints: Sequence[_core.TargetConstraints | None] = (),
        terms: Sequence[Terms] = (),
    ) -> list[Translation]:
        """Translate sentences. The result is the same for any number of threads.

        `constraints` and `terms` have one item per sentence, or are absent.
        """
        mbr = self.options.mbr
        asked = max(kbest, mbr), distinct or mbr > 0, threads, list(constraints), list(terms)
        found = self._decoder.translate_batch(list(sources), *asked)
        made = [Translation(one, self) for one in found]
        return [self._chosen(one, one.hypotheses, kbest) for one in made] if mbr else made

    def _chosen(self, found: Translation, hypotheses: Sequence[Hypothesis], kbest: int) -> Translation:
        """Choose the translation by minimum Bayes risk: the hypothesis that the others agree with most."""
        # The precision of the paper. The default of ConsensusOptions was measured for `treeglot combine` alone.
        options = ConsensusOptions(scale=self.options.mbr_scale, precision=0.7)
        order = ranked([(one.text, one.score) for one in hypotheses[: self.options.mbr]], options)
        chosen = [hypotheses[place] for place in [*order, *range(len(order), len(hypotheses))]]
        return found.with_hypotheses(chosen[:kbest])

    def reached(self, source: Source, target: Sequence[str]) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
        """Find the largest parts of a target sentence that rules can produce from parts of a source sentence.

        The parts do not overlap. Each consists of the half-open spans of both sides and a label.
        """
        return self._decoder.reached(source, list(target))

    def runners_up(self, of: Translation) -> list[Hypothesis | None]:
        """Find, for each step of the best derivation, the best derivation without the step's rule.

        The entry of a step is None if its rule is local, or if the search kept no other derivation.
        """
        return self._decoder.runners_up(of)

    def confidence(self, of: Translation) -> Confidence:
        """Return how reliable a translation and its words are. Compute its k-best list if it has none."""
        if self.judge is None:
            raise ValueError("the model has no confidence.json; expected `treeglot confidence` before")
        whole = len(of.hypotheses) >= LIST and len({h.text for h in of.hypotheses}) == len(of.hypotheses)
        hypotheses = of.hypotheses if whole else self.kbest(of, LIST, True)
        return self.judge.estimate(len(of.words), hypotheses[:LIST], self.rule_scores)

    def rule_scores(self, step: Step) -> list[float]:
        """Return the log probabilities of a step's rule in the table."""
        values = self.rule_values(step)
        return [values[at] for at in self._probabilities] if values else []

    def rule_values(self, step: Step) -> Sequence[float]:
        """Return the values of the table's features for the rule of a step. A local rule has no such values."""
        if step.rule is None:
            return step.values
        return self.tables[step.grammar].rule(step.rule)[3]

    @cached_property
    def _probabilities(self) -> list[int]:
        return [self.table.features.index(name) for name in PROBABILITIES if name in self.table.features]

    def kbest(self, of: Translation, size: int, distinct: bool = False) -> tuple[Hypothesis, ...]:
        """Return the best hypotheses of a translation that this translator made."""
        return self._decoder.kbest(of, size, distinct)

    def forest(self, of: Translation, margin: float) -> SearchForest:
        """Return the search graph of a translation, within `margin` of its best hypothesis."""
        return SearchForest.of(self._decoder.graph(of, margin))
