"""How hypothesis makes inputs: of the seeds' words, of seeds cut and joined, and of documents with hostile values."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import yaml
from hypothesis import strategies as st

from tests.fuzz import seeds
from tests.fuzz.targets import Transformed

_NUMBERS = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**400]),
    st.floats(),
)
_WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([*seeds.INTERPOLATIONS, *seeds.NATIVE_WORDS]),
    st.sampled_from([*seeds.HOSTILE, *seeds.FORMATS, *seeds.PATTERNS, *seeds.QUANTITIES, "x" * 300, ""]),
)
_LEAVES = st.one_of(st.none(), st.booleans(), _NUMBERS, _WORDS)
VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=3)),
    max_leaves=6,
)


def texts(name: str) -> st.SearchStrategy[str]:
    """Texts for a target: words in a row, seeds with something cut out and something put in, anything at all."""
    tokens, known = st.sampled_from(seeds.TOKENS[name]), st.sampled_from(seeds.TEXTS[name])
    piece = st.one_of(tokens, st.text(max_size=4))
    spliced = st.builds(
        _spliced, known, st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 60), piece), max_size=4)
    )
    words = st.lists(piece, max_size=24).map("".join)
    return st.one_of(words, spliced, st.builds(str.__add__, spliced, words), st.text(max_size=40))


def _spliced(text: str, cuts: list[tuple[int, int, str]]) -> str:
    for at, length, piece in cuts:
        place = at % (len(text) + 1)
        text = text[:place] + piece + text[place + length :]
    return text


def documents(name: str) -> st.SearchStrategy[str]:
    """The seeds' documents with some of their values or keys replaced, written as JSON, which YAML reads."""
    streams = [list(yaml.safe_load_all(text)) for text in seeds.TEXTS[name]]
    change = st.tuples(
        st.integers(0, 10_000), st.sampled_from(["word", "word", "value", "key", "drop", "twin"]), VALUES
    )
    return st.builds(_changed, st.sampled_from(streams), st.lists(change, min_size=1, max_size=2))


def _changed(stream: list[Any], changes: list[tuple[int, str, Any]]) -> str:
    stream = copy.deepcopy([d for d in stream if d])
    for number, how, value in changes:
        places = [p for document in stream for p in _places(document)]
        holder, key = places[number % len(places)]
        _change(holder, key, how, value)
    return "\n---\n".join(_written(document) for document in stream)


def _change(holder: Any, key: Any, how: str, value: Any) -> None:
    if how == "word":
        old = holder[key]
        holder[key] = f"{old}{value}" if isinstance(old, str) and isinstance(value, str) else old
    elif how == "drop":
        del holder[key]
    elif how == "key" and isinstance(holder, dict):
        holder[str(value)[:80] if isinstance(value, str) else f"k{key}"] = holder.pop(key)
    elif how == "twin" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    else:
        holder[key] = value


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    return [(value, k) for k in keys] + [p for k in keys for p in _places(value[k])]


def _written(document: Any) -> str:
    try:
        return json.dumps(document, ensure_ascii=False)
    except ValueError:  # an integer too long to print
        return "{}"


_STRING = st.one_of(
    st.fixed_dictionaries({"type": st.just("Format"), "fmt": st.lists(_WORDS, max_size=4).map("".join)}),
    st.fixed_dictionaries({
        "type": st.just("Convert"),
        "convert": st.sampled_from([
            "ToUpper", "ToLower", "ToJson", "ToBase64", "FromBase64", "ToSha1", "ToSha256", "ToSha512", "ToAdler32",
        ]),
    }),
    st.fixed_dictionaries({"type": st.sampled_from(["TrimPrefix", "TrimSuffix"]), "trim": _WORDS}),
    st.fixed_dictionaries({
        "type": st.just("Regexp"),
        "regexp": st.fixed_dictionaries({"match": _WORDS, "group": st.integers(-1, 2**70)}),
    }),
    st.fixed_dictionaries({"type": st.just("Join"), "join": st.fixed_dictionaries({"separator": _WORDS})}),
    st.fixed_dictionaries({
        "type": st.just("Replace"),
        "replace": st.fixed_dictionaries({"search": _WORDS, "replace": _WORDS}),
    }),
)  # fmt: skip
_MATH = st.one_of(
    st.fixed_dictionaries({"type": st.just("Multiply"), "multiply": _NUMBERS}),
    st.fixed_dictionaries({"type": st.just("ClampMin"), "clampMin": _NUMBERS}),
    st.fixed_dictionaries({"type": st.just("ClampMax"), "clampMax": _NUMBERS}),
)
_PATTERN = st.one_of(
    st.fixed_dictionaries({"type": st.just("literal"), "literal": _WORDS, "result": VALUES}),
    st.fixed_dictionaries({"type": st.just("regexp"), "regexp": _WORDS, "result": VALUES}),
)
_TYPES = ["string", "int", "int64", "bool", "float64", "object", "array", "date"]
_TRANSFORM = st.one_of(
    _STRING.map(lambda s: {"type": "string", "string": s}),
    _MATH.map(lambda m: {"type": "math", "math": m}),
    st.dictionaries(_WORDS, VALUES, max_size=3).map(lambda m: {"type": "map", "map": m}),
    st.fixed_dictionaries({
        "type": st.just("match"),
        "match": st.fixed_dictionaries({
            "patterns": st.lists(_PATTERN, max_size=2),
            "fallbackValue": VALUES,
            "fallbackTo": st.sampled_from(["Value", "Input"]),
        }),
    }),
    st.fixed_dictionaries({
        "type": st.just("convert"),
        "convert": st.fixed_dictionaries({
            "toType": st.sampled_from(_TYPES),
            "format": st.sampled_from(["none", "quantity", "json"]),
        }),
    }),
    VALUES,
)  # fmt: skip
_SENSIBLE = st.one_of(_TRANSFORM.filter(lambda t: isinstance(t, dict)), _TRANSFORM)
TRANSFORMED = st.builds(Transformed, st.lists(_SENSIBLE, min_size=1, max_size=3).map(tuple), VALUES)

STRATEGIES: Mapping[str, st.SearchStrategy[Any]] = {
    "documents": texts("documents"),
    "fieldpath": texts("fieldpath"),
    "transforms": TRANSFORMED,
    "jinja2": texts("jinja2"),
    "go-template": texts("go-template"),
    "generate": st.one_of(documents("generate"), documents("generate"), documents("generate"), texts("generate")),
    "native": st.one_of(texts("native"), st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)),
    "plan": st.one_of(documents("plan"), documents("plan"), documents("plan"), texts("plan")),
}
