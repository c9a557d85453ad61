"""Explains why a translation was chosen, and why not another, with examples from the training text."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from treeglot.base.errors import TreeglotError
from treeglot.base.options import Options, option
from treeglot.decode import Translation
from treeglot.models.explain import Explanation, Instead, Reason
from treeglot.rules.provenance import Concordance
from treeglot.web.asking import Fields, Json, admit, refuse, service_of, texts_of, within
from treeglot.web.explain import SentenceRequest, first_sentence
from treeglot.web.own import asked, named, pick
from treeglot.web.shelf import Served
from treeglot.web.translate import hypothesis_text


@dataclass(frozen=True)
class WhyRequest(SentenceRequest):
    """The fields of a request to explain a translation, and optionally why another one lost."""

    instead: str = option("", "another translation: why is it not this one")
    examples: int = option(3, "sentence pairs of each rule", least=0, most=50)


@dataclass(frozen=True)
class ProvenanceRequest(Options):
    """The fields of a request to find words or a rule in the training text."""

    source: str = option("", "words of the source side, blanks between them; or the source side of a rule")
    target: str = option("", "words of the target side, or the target side of a rule")
    rule: bool = option(False, "the sides are those of a rule, such as 'das [X,1]'")
    model: str = option("", "the name of a model; empty: the first")
    most: int = option(10, "sentence pairs to show", least=1, most=100)
    api_key: str = option("", "the key, unless a header has it")


async def why(request: Request) -> Response:
    """Answer `POST /v1/why` with the reasons for a translation, and against another one."""
    wanted, fields = await asked(request, WhyRequest)
    [text] = texts_of(request, wanted.q)
    [instead] = texts_of(request, wanted.instead, "instead")
    admit(request, fields, characters=len(text) + len(instead))
    served = pick(request, wanted, [text])

    def work() -> Fields:
        words = first_sentence(served.model, text).words
        return _explanation(served, served.model.explain(words, instead or None, wanted.examples))

    [answer] = await within(request, service_of(request).workers.all([work]))
    return Json(answer)


def _explanation(served: Served, found: Explanation) -> Fields:
    instead = found.instead
    return {
        "model": served.name,
        "digest": served.digest,
        "text": found.translation.text,
        "tokens": list(found.translation.target_tokens.words),
        "score": found.translation.score,
        "reasons": [_reason(served, found.translation, reason) for reason in found.reasons],
        "instead": None if instead is None else _instead(instead),
    }


def _reason(served: Served, found: Translation, reason: Reason) -> Fields:
    step, other = reason.step, reason.runner_up
    return {
        "words": list(reason.words),
        "label": step.label,
        "span": list(step.span),
        "source": step.source,
        "target": step.target,
        "probability": reason.probability,
        "margin": reason.margin,
        "runner_up": None if other is None else hypothesis_text(served.model, found, other).text,
        "correction": None if reason.correction is None else str(reason.correction),
        "examples": None if reason.examples is None else concordance(reason.examples),
    }


def _instead(instead: Instead) -> Fields:
    return {
        "words": list(instead.words),
        "score": None if instead.found is None else instead.found.score,
        "search_error": instead.search_error,
        "exact": instead.exact,
        "losses": [{"feature": name, "loss": loss} for name, loss in instead.losses],
        "parts": [
            {"source": list(part.source), "target": list(part.target), "label": part.label} for part in instead.parts
        ],
        "missing": instead.missing,
    }


def concordance(found: Concordance) -> Fields:
    """Describe sentence pairs, with the positions of the words that were found."""
    return {
        "pairs": found.pairs,
        "examples": [
            {
                "pair": example.pair,
                "source": list(example.source),
                "target": list(example.target),
                "source_marks": list(example.source_marks),
                "target_marks": list(example.target_marks),
            }
            for example in found.examples
        ],
    }


async def provenance(request: Request) -> Response:
    """Answer `POST /v1/provenance` with the places of words or of a rule in the training text."""
    wanted, fields = await asked(request, ProvenanceRequest)
    admit(request, fields, characters=len(wanted.source) + len(wanted.target))
    served = named(request, wanted.model)
    served.model.need_table("concordances")
    index = served.model.provenance
    if index is None:
        raise refuse(f"{served.name} has no provenance; train it with --set provenance=true")

    def work() -> Fields:
        try:
            if wanted.rule:
                rules = index.find_rule(wanted.source, wanted.target, wanted.most)
                return {"rules": [{"rule": rule, **concordance(found)} for rule, found in rules]}
            return concordance(index.find(wanted.source.split(), wanted.target.split(), wanted.most))
        except TreeglotError as error:
            raise refuse(str(error)) from error

    [answer] = await within(request, service_of(request).workers.all([work]))
    return Json({"model": served.name, "digest": served.digest, **answer})
