"""Describes all interfaces in OpenAPI 3.1. The description is made from their declarations."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin

from treeglot.base.options import REQUIRED, Options, option, options_of, required
from treeglot.web.explain import ExplainRequest
from treeglot.web.own import TranslateRequest
from treeglot.web.rules import CheckRequest, CorrectRequest, LearnRequest, RulesRequest, UndoRequest
from treeglot.web.terms import GlossaryRequest
from treeglot.web.why import ProvenanceRequest, WhyRequest

Schema = dict[str, Any]


@dataclass(frozen=True)
class LibreTranslateRequest(Options):
    """The fields of LibreTranslate's `POST /translate`."""

    q: str | list[str] = required("a text, or in JSON a list of them")
    source: str = required("the language of the text, or auto")
    target: str = required("the language to translate to")
    format: Literal["text", "html"] = option("text", "what the text is")
    alternatives: int = option(0, "other translations of each text", least=0)
    api_key: str = option("", "the key")


@dataclass(frozen=True)
class DetectRequest(Options):
    """The fields of a request to detect the language of a text."""

    q: str = required("the text")
    api_key: str = option("", "the key")


@dataclass(frozen=True)
class SuggestRequest(Options):
    """The fields of a suggestion: a text with a better translation."""

    q: str = required("the text")
    s: str = required("its translation")
    source: str = required("the language of the text")
    target: str = required("the language of the translation")
    api_key: str = option("", "the key")


@dataclass(frozen=True)
class FileRequest(Options):
    """The fields of a request to translate a file."""

    file: bytes = required("the file; its suffix says its format")
    source: str = required("its language, or auto")
    target: str = required("the language to translate to")
    api_key: str = option("", "the key")


@dataclass(frozen=True)
class ApertiumRequest(Options):
    """The parameters of Apertium's requests."""

    q: str = required("the text")
    langpair: str = required("SOURCE|TARGET")
    markUnknown: Literal["yes", "no"] = option("yes", "whether words that are not translated bear a star")  # noqa: N815


@dataclass(frozen=True)
class DeepLRequest(Options):
    """The fields of DeepL's requests."""

    text: list[str] = required("the texts")
    target_lang: str = required("the language to translate to")
    source_lang: str = option("", "the language of the texts; empty: it is detected")
    tag_handling: Literal["", "html"] = option("", "html: tags stay")
    show_billed_characters: bool = option(False, "count characters")


def array(of: Schema) -> Schema:
    """Return the schema of a list of such values."""
    return {"type": "array", "items": of}


def record(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of an object that has exactly these fields. Only the `optional` ones can be missing."""
    wanted = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": wanted, "additionalProperties": False}


STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
BOOLEAN: Schema = {"type": "boolean"}
SCORE: Schema = {"type": ["number", "null"]}
OPEN: Schema = {"type": "object"}
NUMBERS: Schema = {"type": "object", "additionalProperties": NUMBER}
PLACES = array({"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2})
DETECTED = record(confidence={"type": "number", "minimum": 0, "maximum": 100}, language=STRING)
STEP = record(label=STRING, source=STRING, target=STRING, span=array(COUNT), children=COUNT, local=BOOLEAN)
TRACE = {
    "features": {"type": "object", "additionalProperties": SCORE},
    "given_by": array(COUNT),
    "derivation": array(STEP),
    "heads": array({"type": "integer"}),
    "tags": {"type": ["array", "null"], "items": STRING},
}
SENTENCE = record(
    ("problem", "notes", "terms", "confidence", "word_confidence", "kbest", *TRACE),
    source=STRING,
    text=STRING,
    source_spans=PLACES,
    target_spans=PLACES,
    alignment=PLACES,
    score=SCORE,
    seconds=NUMBER,
    problem=STRING,
    notes=array(STRING),
    terms=array(OPEN),
    confidence=NUMBER,
    word_confidence=array(NUMBER),
    kbest=array(record(tuple(TRACE), text=STRING, score=SCORE, **TRACE)),
    **TRACE,
)
TRANSLATION = record(source=STRING, text=STRING, sentences=array(SENTENCE), seconds=NUMBER)
MODEL = record(
    name=STRING,
    kind=STRING,
    source=STRING,
    target=STRING,
    source_name=STRING,
    target_name=STRING,
    digest=STRING,
    rules={"type": ["integer", "null"], "minimum": 0},  # null: found on demand
    on_demand=BOOLEAN,
    corrections=COUNT,
    dev=COUNT,
    confidence=BOOLEAN,
    parses=BOOLEAN,
    weights=NUMBERS,
    search=OPEN,
)
LANGUAGE = record(code=STRING, name=STRING)
ERROR = record(error=STRING, message=STRING)


def envelope(data: Schema) -> Schema:
    """Return the schema of Apertium's answers, which wrap their data."""
    return record(responseData=data, responseDetails={"type": "null"}, responseStatus={"const": 200})


@dataclass(frozen=True)
class Operation:
    """One operation of the service: a path, a method, its request and its response."""

    path: str
    method: str
    summary: str
    takes: Any = None
    gives: Schema = field(default_factory=lambda: OPEN)
    media: str = "application/json"
    form: bool = False  # it takes forms, too
    query: tuple[str, ...] = ()


def either(*schemas: Schema) -> Schema:
    """Return a schema that accepts what any of these accepts."""
    return {"anyOf": list(schemas)}


GLOSSARY = record(
    model=STRING,
    digest=STRING,
    version=STRING,
    entries=array(record(source=STRING, target=STRING, mode=STRING, case=STRING, forms=array(STRING), pos=STRING)),
)
CORRECTION = record(
    action={"enum": ["add", "forbid", "reweight", "weigh"]},
    lhs=STRING,
    source=STRING,
    target={"type": ["string", "null"]},
    alignment=STRING,
    features=NUMBERS,
    author=STRING,
    date=STRING,
    group=STRING,
    labels=STRING,
    structure=STRING,
    line=STRING,
)
HELD = {"model": STRING, "digest": STRING, "corrections": array(CORRECTION)}
EXAMPLE = record(
    pair=COUNT, source=array(STRING), target=array(STRING), source_marks=array(COUNT), target_marks=array(COUNT)
)
CONCORDANCE = record(pairs=COUNT, examples=array(EXAMPLE))
PAIRS = envelope(array(record(sourceLanguage=STRING, targetLanguage=STRING)))
OPERATIONS = [
    Operation(
        "/translate",
        "post",
        "LibreTranslate: translate texts",
        LibreTranslateRequest,
        record(
            ("detectedLanguage", "alternatives"),
            translatedText=either(STRING, array(STRING)),
            detectedLanguage=either(DETECTED, array(DETECTED)),
            alternatives=either(array(STRING), array(array(STRING))),
        ),
        form=True,
    ),
    Operation(
        "/translate", "get", "Apertium: translate a text", ApertiumRequest, envelope(record(translatedText=STRING))
    ),
    Operation(
        "/languages",
        "get",
        "LibreTranslate: the languages",
        gives=array(record(code=STRING, name=STRING, targets=array(STRING))),
    ),
    Operation("/detect", "post", "LibreTranslate: the language of a text", DetectRequest, array(DETECTED), form=True),
    Operation(
        "/suggest",
        "post",
        "LibreTranslate: suggest a better translation",
        SuggestRequest,
        record(success=BOOLEAN),
        form=True,
    ),
    Operation("/health", "get", "Whether the service is there", gives=record(status=STRING)),
    Operation(
        "/frontend/settings",
        "get",
        "LibreTranslate: what a page has to know",
        gives=record(
            apiKeys=BOOLEAN,
            charLimit=COUNT,
            frontendTimeout=COUNT,
            keyRequired=BOOLEAN,
            language=record(source=LANGUAGE, target=LANGUAGE),
            suggestions=BOOLEAN,
            supportedFilesFormat=array(STRING),
        ),
    ),
    Operation(
        "/translate_file",
        "post",
        "LibreTranslate: translate a file",
        FileRequest,
        record(translatedFileUrl=STRING),
        form=True,
    ),
    Operation("/download_file/{secret}", "get", "A translated file", media="application/octet-stream"),
    Operation("/listPairs", "get", "Apertium: the pairs", gives=PAIRS, query=("include_deprecated_codes",)),
    Operation("/list", "get", "Apertium: the same", gives=PAIRS, query=("q",)),
    Operation(
        "/v2/translate",
        "post",
        "DeepL: translate texts",
        DeepLRequest,
        record(
            translations=array(
                record(("billed_characters",), detected_source_language=STRING, text=STRING, billed_characters=COUNT)
            )
        ),
        form=True,
    ),
    Operation(
        "/v2/languages",
        "get",
        "DeepL: the languages",
        gives=array(record(("supports_formality",), language=STRING, name=STRING, supports_formality=BOOLEAN)),
        query=("type",),
    ),
    Operation("/v2/usage", "get", "DeepL: what was used", gives=record(character_count=COUNT, character_limit=COUNT)),
    Operation(
        "/v1/translate",
        "post",
        "Translate texts, with all that explains the translations",
        TranslateRequest,
        record(model=STRING, digest=STRING, translations=array(TRANSLATION)),
    ),
    Operation(
        "/v1/explain",
        "post",
        "How the translation of a sentence came about",
        ExplainRequest,
        record(
            model=STRING,
            digest=STRING,
            sentence=SENTENCE,
            html=STRING,
            parts=array(COUNT),
            words=array(STRING),
            forest=BOOLEAN,
            competing=array(
                record(
                    span=array(COUNT),
                    rules=array(record(rule=STRING, lost=NUMBER, features={"type": "object"})),
                    left_out=COUNT,
                )
            ),
            weights=NUMBERS,
        ),
    ),
    Operation(
        "/v1/why",
        "post",
        "Why a translation, and why not another",
        WhyRequest,
        record(
            model=STRING,
            digest=STRING,
            text=STRING,
            tokens=array(STRING),
            score=NUMBER,
            reasons=array(
                record(
                    words=array(COUNT),
                    label=STRING,
                    span=array(COUNT),
                    source=STRING,
                    target=STRING,
                    probability=SCORE,
                    margin=SCORE,
                    runner_up={"type": ["string", "null"]},
                    correction={"type": ["string", "null"]},
                    examples=either(CONCORDANCE, {"type": "null"}),
                )
            ),
            instead=either(
                {"type": "null"},
                record(
                    words=array(STRING),
                    score=SCORE,
                    search_error=BOOLEAN,
                    exact=BOOLEAN,
                    losses=array(record(feature=STRING, loss=NUMBER)),
                    parts=array(record(source=array(COUNT), target=array(COUNT), label=STRING)),
                    missing=STRING,
                ),
            ),
        ),
    ),
    Operation("/v1/provenance", "post", "Where words or rules stand in the training text", ProvenanceRequest),
    Operation("/v1/glossaries", "get", "The glossaries of the models", gives=record(glossaries=array(GLOSSARY))),
    Operation("/v1/glossaries", "post", "Replace the glossary of a model", GlossaryRequest, GLOSSARY),
    Operation(
        "/v1/rules",
        "post",
        "The rules that have some words",
        RulesRequest,
        record(
            model=STRING,
            digest=STRING,
            total=COUNT,
            rules=array(record(lhs=STRING, source=STRING, target=STRING, alignment=STRING, values=OPEN)),
        ),
    ),
    Operation(
        "/v1/corrections", "get", "The corrections of the models", gives=record(corrections=array(record(**HELD)))
    ),
    Operation(
        "/v1/corrections",
        "post",
        "Add, forbid or reweight rules of a model",
        CorrectRequest,
        record(**HELD, group=STRING, notes=array(STRING)),
    ),
    Operation("/v1/corrections/undo", "post", "Take corrections back", UndoRequest, record(**HELD, removed=COUNT)),
    Operation(
        "/v1/corrections/check",
        "post",
        "The sentences that corrections change",
        CheckRequest,
        record(
            model=STRING,
            digest=STRING,
            sentences=COUNT,
            touched=COUNT,
            changed=COUNT,
            changes=array(record(number=COUNT, source=STRING, before=STRING, after=STRING)),
            scores={"type": "object", "additionalProperties": record(before=NUMBER, after=NUMBER)},
            notes=array(STRING),
        ),
    ),
    Operation(
        "/v1/learn",
        "post",
        "Learn the translation of a sentence",
        LearnRequest,
        record(**HELD, group=STRING, rules=array(STRING), known=COUNT, links=STRING, step=NUMBERS),
    ),
    Operation(
        "/v1/suggestions",
        "get",
        "Translations that users suggested, the newest first",
        gives=record(suggestions=array(record(time=STRING, source=STRING, target=STRING, q=STRING, s=STRING))),
    ),
    Operation("/v1/models", "get", "The models", gives=record(models=array(MODEL))),
    Operation("/metrics", "get", "Figures for Prometheus", media="text/plain"),
    Operation("/spec", "get", "This description"),
]


def schema_of(kind: Any) -> Schema:
    """Return the schema for the values of a type.

    >>> schema_of(int | list[str])
    {'anyOf': [{'type': 'integer'}, {'type': 'array', 'items': {'type': 'string'}}]}
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return either(*map(schema_of, arguments))
    if origin in (list, tuple):
        return array(schema_of(arguments[0]))
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    names = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    return {"type": "string", "format": "binary"} if kind is bytes else {"type": names[kind]} if kind in names else {}


def request_schema(options: Any) -> Schema:
    """Return the schema of a request. A dataclass declares the request."""
    properties, wanted = {}, []
    for o in options_of(options):
        entry = {**schema_of(o.type), "description": o.help}
        if o.default is REQUIRED:
            wanted.append(o.name)
        else:
            entry["default"] = o.default
        if o.range.least is not None:
            entry["minimum"] = o.range.least
        if o.range.most is not None:
            entry["maximum"] = o.range.most
        properties[o.name] = entry
    return {"type": "object", "properties": properties, "required": wanted}


def describe(operation: Operation) -> Schema:
    """Describe one operation in OpenAPI."""
    good: Schema = {"description": "the answer"}
    good["content"] = {operation.media: {"schema": operation.gives} if operation.media == "application/json" else {}}
    bad = {"description": "what is wrong", "content": {"application/json": {"schema": ERROR}}}
    found: Schema = {"summary": operation.summary, "responses": {"200": good, "4XX": bad, "5XX": bad}}
    parameters = [{"name": name, "in": "query", "required": False, "schema": STRING} for name in operation.query]
    if "{secret}" in operation.path:
        parameters.append({"name": "secret", "in": "path", "required": True, "schema": STRING})
    if operation.takes is not None and operation.method == "get":
        wanted = request_schema(operation.takes)
        parameters += [
            {"name": name, "in": "query", "required": name in wanted["required"], "schema": schema}
            for name, schema in wanted["properties"].items()
        ]
    elif operation.takes is not None:
        files = operation.takes is FileRequest
        media = ["multipart/form-data"] if files else ["application/json"]
        media += ["application/x-www-form-urlencoded"] if operation.form and not files else []
        body = {"schema": request_schema(operation.takes)}
        found["requestBody"] = {"required": True, "content": dict.fromkeys(media, body)}
    if parameters:
        found["parameters"] = parameters
    return found


def specification(version: str) -> Schema:
    """Return the OpenAPI description of the whole service."""
    paths: Schema = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = describe(operation)
    key = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Treeglot", "version": version},
        "paths": paths,
        "components": {"securitySchemes": {"key": key}},
    }
