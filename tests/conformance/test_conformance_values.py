"""Field paths and transforms against the peers' own test tables, as recorded in the shared conformance data."""

from __future__ import annotations

import copy
import json

import pytest
from pydantic import ValidationError

from claimsmith.base import fieldpath
from claimsmith.base.errors import FieldPathError, TransformError
from claimsmith.base.merge import MergePolicy, merge
from claimsmith.base.transform import parse_transform
from claimsmith.patching import transforms
from tests.support.paths import ROOT

FOLDER = ROOT.parent / "shared" / "conformance" / "patch-and-transform"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared conformance data is not beside this repository")

NO_PATTERNS = "the peer's own validation refuses a match without patterns, and so does ours: the function is compared"
NOT_PARSED = {
    "TestMatchResolve/NoPatternsFallback": NO_PATTERNS,
    "TestMatchResolve/NoPatternsFallbackNil": NO_PATTERNS,
}
"""Cases that the peer runs without validating them, with the reason why they cannot come about."""

GO_VALUES = {"bool": True, "int": 1, "int64": 1, "float64": 1.0, "string": "1"}


def cases(name, **wanted):
    """The cases of a file, as parameters; none where there is no such file."""
    file = FOLDER / f"{name}.json"
    found = json.loads(file.read_text()) if file.is_file() else []
    return [
        pytest.param(case, id=case["id"])
        for case in found
        if all(case["input"].get(key) == value for key, value in wanted.items())
    ]


def segments(listed):
    return tuple(segment.get("field", segment.get("index")) for segment in listed)


def parse(given):
    return [{"field": s} if isinstance(s, str) else {"index": s} for s in fieldpath.parse(given["path"])]


def get(given):
    return fieldpath.get(given["object"], given["path"])


def get_of(*kinds, items=None):
    """A typed read, as a caller writes it: the kind is checked by whoever needs one."""

    def read(given):
        value = get(given)
        inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        if type(value) not in kinds or any(type(item) is not items for item in inner):
            raise FieldPathError(f"{given['path']}: not of that type")
        return value

    return read


def put(given):
    fieldpath.put(given["object"], given["path"], given["value"], max_index=given["maxIndex"] or None)
    return given["object"]


def merge_at(given):
    options = given["mergeOptions"] or {}
    policy = MergePolicy.from_options(
        keep_map_values=options.get("keepMapValues", False), append_slice=options.get("appendSlice", False)
    )
    policy = policy if given["mergeOptions"] else MergePolicy.Replace
    merged = merge(get(given), given["value"], policy)
    fieldpath.put(given["object"], given["path"], merged)
    return given["object"]


def delete(given):
    fieldpath.delete(given["object"], given["path"])
    return given["object"]


def expand(given):
    return sorted(fieldpath.to_text(path) for path in fieldpath.expand(given["object"], given["path"]))


def field_or_index(given):
    return parse({"path": f"[{given['s']}]"})[0]


OPERATIONS = {
    "parse": parse,
    "getValue": get,
    "getString": get_of(str),
    "getBool": get_of(bool),
    "getInteger": get_of(int),
    "getStringArray": get_of(list, items=str),
    "getStringObject": get_of(dict, items=str),
    "set": put,
    "merge": merge_at,
    "delete": delete,
    "expandWildcards": expand,
    "segmentsToString": lambda given: fieldpath.to_text(segments(given["segments"])),
    "fieldOrIndex": field_or_index,
}


def resolve(given):
    return transforms.apply_all([parse_transform(t) for t in given["transforms"]], given["value"])


def conversion_function(given):
    value = '{"a": 1}' if given["convert"].get("format") == "json" else GO_VALUES[given["from"]]
    value = "[]" if given["convert"]["toType"] == "array" else value
    transforms.apply(parse_transform({"type": "convert", "convert": given["convert"]}), value)
    return {"supported": True}


def match_function(given):
    options = given["transforms"][0]["match"]
    return transforms.matched([], given["value"], fallback=options["fallbackValue"])


def resolver(case):
    if case["id"] in NOT_PARSED:
        return match_function
    return conversion_function if case["input"].get("op") == "getConversionFunc" else resolve


def compare(case, operation, kinds):
    """Run one case: the same value, or an error where the peer has one, with the object left as it was."""
    given = copy.deepcopy(case["input"])
    if case.get("error"):
        with pytest.raises(kinds):
            operation(given)
        assert given.get("object") == case.get("objectAfterError", given.get("object"))
        return
    got = operation(given)
    assert got == case["expected"]
    assert isinstance(got, bool) == isinstance(case["expected"], bool)
    assert isinstance(got, float) == (case.get("expectedGoType") == "float64")


@pytest.mark.parametrize("case", cases("fieldpath"))
def test_fieldpath(case):
    compare(case, OPERATIONS[case["input"]["op"]], FieldPathError)


@pytest.mark.parametrize("case", cases("transform"))
def test_transform(case):
    compare(case, resolver(case), (TransformError, ValidationError))


@pytest.mark.parametrize("case", cases("validation", what="transform"))
def test_transform_validation(case):
    compare(case, lambda given: {"valid": bool(parse_transform(given["value"]))}, ValidationError)


@pytest.mark.parametrize("case", [p for p in cases("validation", what="transform") if p.values[0].get("error")])
def test_transform_validation_names_the_field(case):
    with pytest.raises(ValidationError) as caught:
        parse_transform(case["input"]["value"])
    found = ".".join(map(str, caught.value.errors()[0]["loc"]))
    assert found == case["fieldError"]["field"].removesuffix(".pairs")
