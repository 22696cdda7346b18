from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest

from claimsmith import lab
from claimsmith.base import fieldpath, values
from claimsmith.base.documents import Document, read_documents
from claimsmith.kubernetes import crds, schema
from claimsmith.kubernetes.client import CRDS, ApiError, Cluster, Resource

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"


def obj(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def array(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


INT, NUMBER, TEXT, BOOL = ({"type": name} for name in ("integer", "number", "string", "boolean"))
INT_OR_TEXT = {"x-kubernetes-int-or-string": True}
SIZE = {"type": "string", "minLength": 2, "maxLength": 3}
TENTHS = {"type": "number", "multipleOf": 0.1}
BELOW_5 = {"type": "number", "maximum": 5, "exclusiveMaximum": True}
ABOVE_5 = {"type": "number", "minimum": 5, "exclusiveMinimum": True}
CLOSED = obj("a", a=TEXT, b=TEXT)
KEPT = {**obj(a=obj(b=TEXT)), PRESERVE: True}
COUNTS = {"type": "object", "additionalProperties": INT, "maxProperties": 2}
ONE = {**obj(a=TEXT, b=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
ANY = {**obj(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
ALL = {**obj(a=TEXT, b=TEXT), "allOf": [{"required": ["a"]}, {"properties": {"a": {"minLength": 2}}}]}
NOT_A = {**obj(a=TEXT), "not": {"required": ["a"]}}
RESOURCE = {"type": "object", EMBEDDED: True, "properties": {"spec": {"type": "object", PRESERVE: True}}}
SET = array(TEXT, **{"x-kubernetes-list-type": "set"})
KEYED = array(obj("k", k=TEXT, v=INT), **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})
HEAD = {"apiVersion": "v1", "kind": "X"}


def form(name: str) -> dict[str, Any]:
    return {"type": "string", "format": name}


ACCEPTED = [
    pytest.param(INT, 5, id="integer"),
    pytest.param(INT, 5.0, id="integer-written-with-a-point"),
    pytest.param(NUMBER, 1, id="integer-is-a-number"),
    pytest.param(NUMBER, 2**70, id="number-over-64-bits"),
    pytest.param(BOOL, False, id="boolean"),
    pytest.param(TEXT, None, id="null-where-none-may-be-counts-as-absent"),
    pytest.param({**TEXT, "nullable": True}, None, id="nullable"),
    pytest.param({"type": "integer", "enum": [1, 2]}, 1.0, id="enum-1-is-1.0"),
    pytest.param(SIZE, "😀😀😀", id="length-counts-characters"),
    pytest.param({"type": "string", "pattern": "b+"}, "abc", id="pattern-is-not-anchored"),
    pytest.param(TENTHS, 0.3, id="multiple-of-a-tenth"),
    pytest.param(BELOW_5, 4.9, id="below-an-exclusive-maximum"),
    pytest.param(INT_OR_TEXT, 1, id="int-or-string-int"),
    pytest.param(INT_OR_TEXT, "50%", id="int-or-string-string"),
    pytest.param({PRESERVE: True}, [1, {"a": None}], id="anything"),
    pytest.param({PRESERVE: True}, None, id="anything-null"),
    pytest.param(CLOSED, {"a": "x", "b": None}, id="object"),
    pytest.param(KEPT, {"z": {"deep": 1}, "a": {"b": "x"}}, id="kept-unknown-field"),
    pytest.param(COUNTS, {"any.name": 1}, id="map"),
    pytest.param({"type": "object", "additionalProperties": True}, {"a": [1]}, id="map-of-anything"),
    pytest.param(array(INT, minItems=1, maxItems=2), [1, 2], id="array"),
    pytest.param(SET, ["a", "b"], id="set"),
    pytest.param(KEYED, [{"k": "a", "v": 1}, {"k": "b", "v": 1}], id="list-by-key"),
    pytest.param(ONE, {"a": "1"}, id="one-of"),
    pytest.param(ONE, {"a": "1", "b": None}, id="one-of-does-not-see-null"),
    pytest.param(ANY, {"a": "1", "b": "2"}, id="any-of"),
    pytest.param(ALL, {"a": "12"}, id="all-of"),
    pytest.param(NOT_A, {}, id="not"),
    pytest.param(obj("a", a={**INT, "default": 1}), {}, id="required-field-with-a-default"),
    pytest.param(RESOURCE, {**HEAD, "metadata": {"name": "Bad Name", "labels": {"a": "b"}}}, id="resource"),
    pytest.param(RESOURCE, {**HEAD, "metadata": None, "spec": {"any": 1}}, id="resource-with-empty-metadata"),
    pytest.param(form("date-time"), "2020-01-01t00:00:00.5z", id="date-time-in-lower-case"),
    pytest.param(form("date"), "2020-02-29", id="date"),
    pytest.param(form("duration"), "1h30m10s", id="duration"),
    pytest.param(form("duration"), "3 days", id="duration-in-words"),
    pytest.param(form("duration"), "PT5M", id="duration-of-iso-8601"),
    pytest.param(form("duration"), "0", id="duration-zero"),
    pytest.param(form("ipv4"), "01.2.3.4", id="ipv4-with-a-leading-zero"),
    pytest.param(form("ipv6"), "::ffff:1.2.3.4", id="ipv6"),
    pytest.param(form("cidr"), "10.0.0.1/8", id="cidr-with-host-bits"),
    pytest.param(form("byte"), "aGk=", id="base64"),
    pytest.param(form("uuid"), "123E4567e89b12d3a456426614174000", id="uuid-without-dashes"),
    pytest.param(form("uri"), "https://a.b/c", id="uri"),
    pytest.param(form("nonsense"), "x", id="unknown-format"),
]

REFUSED = [
    pytest.param(INT, 5.5, "", id="integer-with-a-fraction"),
    pytest.param(INT, True, "", id="boolean-is-no-integer"),
    pytest.param(INT, "5", "", id="integer-in-quotes"),
    pytest.param(INT, 2**63, "", id="integer-over-64-bits"),
    pytest.param(INT, 1e30, "", id="integer-as-a-huge-float"),
    pytest.param(NUMBER, "1", "", id="number-in-quotes"),
    pytest.param(TEXT, 5.7, "", id="version-without-quotes"),
    pytest.param(BOOL, "true", "", id="boolean-in-quotes"),
    pytest.param({"type": "integer", "enum": [1, 2]}, 3, "", id="enum"),
    pytest.param({"type": "string", "enum": ["a"], "nullable": True}, None, "", id="enum-without-null"),
    pytest.param(SIZE, "a", "", id="too-short"),
    pytest.param(SIZE, "abcd", "", id="too-long"),
    pytest.param({"type": "string", "pattern": "^b+$"}, "abc", "", id="pattern"),
    pytest.param(TENTHS, 0.35, "", id="no-multiple"),
    pytest.param(BELOW_5, 5, "", id="exclusive-maximum"),
    pytest.param(ABOVE_5, 5.0, "", id="exclusive-minimum"),
    pytest.param(INT_OR_TEXT, 1.5, "", id="int-or-string-float"),
    pytest.param(INT_OR_TEXT, True, "", id="int-or-string-boolean"),
    pytest.param(CLOSED, {"b": "x"}, ".a", id="missing"),
    pytest.param(CLOSED, {"a": None}, ".a", id="null-is-missing"),
    pytest.param(CLOSED, {"a": "x", "c": "x"}, ".c", id="unknown-field"),
    pytest.param(CLOSED, {"a": "x", "c": None}, ".c", id="unknown-field-that-is-null"),
    pytest.param({"type": "object"}, {"a": 1}, ".a", id="object-without-fields"),
    pytest.param(KEPT, {"a": {"c": "x"}}, ".a.c", id="unknown-field-in-a-known-one"),
    pytest.param(COUNTS, {"a": "1"}, ".a", id="map-value"),
    pytest.param(COUNTS, {"a": 1, "b": 2, "c": 3}, "", id="map-too-large"),
    pytest.param(
        {"type": "object", "additionalProperties": True}, {"a": {"b": 1}}, ".a.b", id="map-value-has-no-fields"
    ),
    pytest.param(array(INT), {}, "", id="no-array"),
    pytest.param(array(INT), [1, None], "[1]", id="null-in-an-array"),
    pytest.param(array(INT, minItems=1), [], "", id="array-too-short"),
    pytest.param(array(INT, maxItems=1), [1, 2], "", id="array-too-long"),
    pytest.param(array(CLOSED), [{"a": "x"}, {"a": 1}], "[1].a", id="item"),
    pytest.param(SET, ["a", "b", "a"], "[2]", id="set-with-a-double"),
    pytest.param(KEYED, [{"k": "a", "v": 1}, {"k": "a", "v": 2}], "[1]", id="list-with-a-double-key"),
    pytest.param(ONE, {"a": "1", "b": "2"}, "", id="one-of-fits-twice"),
    pytest.param(ONE, {}, "", id="one-of-fits-never"),
    pytest.param(ANY, {}, "", id="any-of-fits-never"),
    pytest.param(ALL, {"a": "1"}, ".a", id="all-of"),
    pytest.param(NOT_A, {"a": "x"}, "", id="not"),
    pytest.param(RESOURCE, {"kind": "X"}, ".apiVersion", id="resource-without-version"),
    pytest.param(RESOURCE, {**HEAD, "kind": "bad kind"}, ".kind", id="resource-of-no-kind"),
    pytest.param(RESOURCE, {**HEAD, "apiVersion": "a/b/c"}, ".apiVersion", id="resource-of-no-version"),
    pytest.param(RESOURCE, {**HEAD, "metadata": {"lables": {}}}, ".metadata.lables", id="resource-metadata"),
    pytest.param(RESOURCE, {**HEAD, "metadata": {"name": 5}}, ".metadata.name", id="resource-name"),
    pytest.param(RESOURCE, {**HEAD, "extra": 1}, ".extra", id="resource-unknown-field"),
    pytest.param(form("date-time"), "2020-01-01", "", id="date-time-without-time"),
    pytest.param(form("date-time"), "2020-01-01T24:00:00Z", "", id="date-time-hour-24"),
    pytest.param(form("date"), "2020-13-01", "", id="date-month-13"),
    pytest.param(form("duration"), "5 parsecs", "", id="duration-in-no-unit"),
    pytest.param(form("duration"), "5", "", id="duration-without-unit"),
    pytest.param(form("ipv4"), "1.2.3.400", "", id="ipv4"),
    pytest.param(form("ipv6"), "1.2.3.4", "", id="ipv6"),
    pytest.param(form("cidr"), "10.0.0.0/33", "", id="cidr"),
    pytest.param(form("byte"), "aGk", "", id="base64-without-padding"),
    pytest.param(form("uuid"), "x", "", id="uuid"),
    pytest.param(form("uri"), "foo/bar", "", id="uri-without-scheme"),
]


@pytest.mark.parametrize(("rules", "value"), ACCEPTED)
def test_accepted(rules: Any, value: Any) -> None:
    assert schema.check({"x": value}, obj(x=rules), document=None) == []


@pytest.mark.parametrize(("rules", "value", "path"), REFUSED)
def test_refused(rules: Any, value: Any, path: str) -> None:
    problems = schema.check({"x": value}, obj(x=rules), document=None)
    assert [p.path for p in problems] == [f"x{path}"]
    assert problems[0].fix


def test_int32_is_kept_where_the_server_is_lax() -> None:
    assert [
        p.path for p in schema.check({"x": 2**31}, obj(x={"type": "integer", "format": "int32"}), document=None)
    ] == ["x"]


YAML = """\
kind: Thing
spec:
  forProvider:
    regoin: eu
    size: "5"
    tags:
      - Name: a
"""
PROVIDER = obj("zone", region=TEXT, size=INT, zone=TEXT, tags=array(obj(name=TEXT)))


def test_all_problems_at_once_with_their_lines() -> None:
    document = read_documents(YAML, file="thing.yaml")[0]
    at = ("spec", "forProvider")
    problems = schema.check(document.data["spec"]["forProvider"], PROVIDER, document=document, at=at)
    assert [(p.path, p.where.line if p.where else None, p.fix) for p in problems] == [
        ("spec.forProvider.zone", 3, "add zone:"),
        ("spec.forProvider.regoin", 4, "did you mean 'region'?"),
        ("spec.forProvider.size", 5, "write it without quotes: 5"),
        ("spec.forProvider.tags[0].Name", 7, "did you mean 'name'?"),
    ]


@pytest.mark.parametrize(
    ("rules", "value", "fix"),
    [
        pytest.param(TEXT, 5.7, 'quote it: "5.7"', id="number-for-text"),
        pytest.param(TEXT, True, 'quote it: "true"', id="boolean-for-text"),
        pytest.param(BOOL, "No", "write false, without quotes", id="word-for-boolean"),
        pytest.param(array(TEXT), "a", "write it as a list, with a dash before each item", id="text-for-list"),
        pytest.param(INT, "many", "write an integer", id="word-for-integer"),
        pytest.param({**TEXT, "enum": ["SSD", "HDD"]}, "ssd", "use one of: 'SSD', 'HDD'", id="enum"),
        pytest.param(obj(a=TEXT, b=TEXT), {"zzz": 1}, "remove it; known here: a, b", id="unknown"),
        pytest.param(ONE, {}, "make it fit one: with a; or with b", id="one-of"),
    ],
)
def test_the_fix_says_how(rules: Any, value: Any, fix: str) -> None:
    assert [p.fix for p in schema.check({"x": value}, obj(x=rules), document=None)] == [fix]


REF = values.Ref("claim/db", ("status", "endpoint"))


@pytest.mark.parametrize(
    ("rules", "value"),
    [
        pytest.param(INT, REF, id="leaf"),
        pytest.param(COUNTS, REF, id="in-place-of-an-object"),
        pytest.param(SET, [REF, REF], id="in-a-set"),
        pytest.param(
            {**obj(a=TEXT), "oneOf": [{"properties": {"a": {"enum": [v]}}} for v in "xy"]}, {"a": REF}, id="one-of"
        ),
        pytest.param({**obj(a=TEXT), "not": {"properties": {"a": {"enum": ["x"]}}}}, {"a": REF}, id="not"),
    ],
)
def test_values_known_later_fit_anywhere(rules: Any, value: Any) -> None:
    assert schema.check({"x": value}, obj(x=rules), document=None, skip=lambda v: isinstance(v, values.Ref)) == []


def test_a_part_is_not_asked_for_what_patches_may_add() -> None:
    rules = obj("a", "b", a=ONE, b=array(INT, minItems=2))
    assert schema.check({"a": {}, "b": []}, rules, document=None, partial=True) == []
    wrong = schema.check({"a": {"a": 1}, "b": ["x"], "c": 1}, rules, document=None, partial=True)
    assert [p.path for p in wrong] == ["a.a", "b[0]", "c"]


FILLED = obj(x={**INT, "default": 3}, y=obj(z={**INT, "default": 1}))
DEFAULTS = obj(
    n={**INT, "default": 7},
    nullable={**INT, "default": 7, "nullable": True},
    plain=TEXT,
    absent=FILLED,
    filled={**FILLED, "default": {}},
    list=array(FILLED),
    map={"type": "object", "additionalProperties": FILLED},
    kept={"type": "object", PRESERVE: True},
)
ALWAYS = {"n": 7, "nullable": 7, "filled": {"x": 3}}
DEFAULTED = [
    pytest.param({}, ALWAYS, id="empty"),
    pytest.param({"n": 0, "filled": {"x": 0}}, {**ALWAYS, "n": 0, "filled": {"x": 0}}, id="given-stays"),
    pytest.param({"n": None, "filled": None}, ALWAYS, id="null-takes-the-default"),
    pytest.param({"nullable": None}, {**ALWAYS, "nullable": None}, id="null-that-is-allowed-stays"),
    pytest.param({"plain": None, "absent": None}, ALWAYS, id="null-that-is-not-allowed-goes"),
    pytest.param({"absent": {}}, {**ALWAYS, "absent": {"x": 3}}, id="into-an-object-that-is-there"),
    pytest.param({"filled": {"y": {}}}, {**ALWAYS, "filled": {"x": 3, "y": {"z": 1}}}, id="deep"),
    pytest.param({"list": [{}, {"x": 1}]}, {**ALWAYS, "list": [{"x": 3}, {"x": 1}]}, id="into-items"),
    pytest.param({"map": {"k": {}}}, {**ALWAYS, "map": {"k": {"x": 3}}}, id="into-a-map"),
    pytest.param({"kept": {"a": None}}, {**ALWAYS, "kept": {"a": None}}, id="unknown-fields-are-left-alone"),
]


@pytest.mark.parametrize(("data", "want"), DEFAULTED)
def test_defaulted(data: Any, want: Any) -> None:
    before = copy.deepcopy((data, DEFAULTS))
    assert schema.defaulted(data, DEFAULTS) == want
    assert (data, DEFAULTS) == before


def test_defaults_are_not_shared() -> None:
    schema.defaulted({}, DEFAULTS)["filled"]["x"] = 99
    assert schema.defaulted({}, DEFAULTS)["filled"] == {"x": 3}


SERVER = {
    EMBEDDED: True,
    **obj(
        spec=obj(
            location=TEXT,
            forProvider=obj(
                region=TEXT,
                settings=obj(dataDiskSizeGb=INT, tier=TEXT),
                storageProfile=obj(storageMB=INT),
                rules=array(obj(subnetId=TEXT)),
                tags={"type": "object", "additionalProperties": TEXT},
                extra={"type": "object", PRESERVE: True},
                port=INT_OR_TEXT,
            ),
        ),
        status={"type": "object", PRESERVE: True},
    ),
}


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("spec.forProvider.settings.tier", TEXT, id="field"),
        pytest.param("spec.forProvider.rules[3].subnetId", TEXT, id="item"),
        pytest.param("spec.forProvider.rules[*].subnetId", TEXT, id="every-item"),
        pytest.param("spec.forProvider.tags[a.b/c]", TEXT, id="map"),
        pytest.param("spec.forProvider.tags[*]", TEXT, id="every-value"),
        pytest.param("spec.forProvider.extra.any.thing[0].at.all", {PRESERVE: True}, id="preserved"),
        pytest.param("metadata.labels[example.org/x]", TEXT, id="label"),
        pytest.param("metadata.name", TEXT, id="name"),
        pytest.param("status.endpoint", {PRESERVE: True}, id="status"),
        pytest.param("spec.forProvider.storageMB", None, id="field-elsewhere"),
        pytest.param("spec.location.x", None, id="below-a-text"),
        pytest.param("spec.forProvider.region[0]", None, id="index-of-a-text"),
        pytest.param("spec.forProvider.rules.subnetId", None, id="array-without-index"),
        pytest.param("metadata.label", None, id="metadata"),
        pytest.param("spek.location", None, id="root"),
    ],
)
def test_at_path(path: str, want: Any) -> None:
    assert schema.at_path(SERVER, fieldpath.parse(path)) == want
    assert schema.knows(SERVER, fieldpath.parse(path)) == (want is not None)


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("spec.forProvider.dataDiskSizeGb", "spec.forProvider.settings.dataDiskSizeGb", id="further-down"),
        pytest.param(
            "spec.forProvider.storageMB", "spec.forProvider.storageProfile.storageMB", id="not-a-similar-sibling"
        ),
        pytest.param("spec.forProvider.location", "spec.location", id="further-up"),
        pytest.param("spec.forProvidr.region", "spec.forProvider.region", id="slip-on-the-way"),
        pytest.param("spec.forProvidr.setings.tier", "spec.forProvider.settings.tier", id="two-slips"),
        pytest.param("spec.forprovider.nothing", "spec.forProvider", id="only-the-way-is-known"),
        pytest.param("spec.forProvider.rules[0].subnetID", "spec.forProvider.rules[0].subnetId", id="in-an-item"),
        pytest.param("metadata.lables.x", "metadata.labels.x", id="metadata"),
        pytest.param("spec.forProvider.region", None, id="known"),
        pytest.param("spec.forProvider.zzzz", None, id="nothing-close"),
        pytest.param("spec.forProvider[0]", None, id="index"),
    ],
)
def test_nearest_field(path: str, want: str | None) -> None:
    assert schema.nearest_field(SERVER, fieldpath.parse(path)) == want


@pytest.mark.parametrize(
    ("written", "want"),
    [
        pytest.param({"type": "int"}, INT, id="int"),
        pytest.param({"type": "Bool"}, BOOL, id="capital"),
        pytest.param({"properties": {"a": {"type": "int"}}}, obj(a=INT), id="object-without-type"),
        pytest.param({"items": {"type": "str"}}, array(TEXT), id="array-without-type"),
        pytest.param({"type": "list"}, array({PRESERVE: True}), id="array-of-what"),
        pytest.param({"type": ["string", "null"]}, {**TEXT, "nullable": True}, id="union-with-null"),
        pytest.param(
            {"type": "map", "additionalProperties": {"type": "float"}},
            {"type": "object", "additionalProperties": NUMBER},
            id="map",
        ),
        pytest.param({**obj(a=TEXT), "additionalProperties": False}, obj(a=TEXT), id="closed-anyway"),
        pytest.param(
            {**INT_OR_TEXT, "anyOf": [{"type": "int"}, {"type": "str"}]},
            {**INT_OR_TEXT, "anyOf": [INT, TEXT]},
            id="branches",
        ),
        pytest.param(obj(type={"type": "int"}), obj(type=INT), id="a-field-named-type"),
        pytest.param({"type": "wrong"}, {"type": "wrong"}, id="unknown-is-left"),
    ],
)
def test_normalised(written: Any, want: Any) -> None:
    before = copy.deepcopy(written)
    assert schema.normalised(written) == want
    assert written == before


KNOWN = obj(a=TEXT)
PRUNING = obj(
    plain=KNOWN,
    list=array(KNOWN),
    map={"type": "object", "additionalProperties": KNOWN},
    kept={"type": "object", PRESERVE: True, "properties": {"closed": KNOWN}},
    items=array({"type": "object", PRESERVE: True}),
)
PRUNED = [
    pytest.param({"plain": {"a": "x"}}, {"plain": {"a": "x"}}, [], id="nothing-unknown"),
    pytest.param({"other": {"b": "x"}}, {}, ["other"], id="whole-object"),
    pytest.param({"plain": {"a": "x", "b": "y"}}, {"plain": {"a": "x"}}, ["plain.b"], id="field"),
    pytest.param({"list": [{"a": "x"}, {"b": "y"}]}, {"list": [{"a": "x"}, {}]}, ["list[1].b"], id="item"),
    pytest.param({"map": {"k": {"a": "x", "b": 1}}}, {"map": {"k": {"a": "x"}}}, ["map.k.b"], id="map"),
    pytest.param({"kept": {"b": {"c": 1}}}, {"kept": {"b": {"c": 1}}}, [], id="unknown-fields-kept"),
    pytest.param(
        {"kept": {"closed": {"b": 1}}},
        {"kept": {"closed": {}}},
        ["kept.closed.b"],
        id="known-below-unknown-fields-kept",
    ),
    pytest.param({"items": [{"b": {"c": 1}}]}, {"items": [{"b": {"c": 1}}]}, [], id="open-items"),
]


@pytest.mark.parametrize(("data", "want", "lost"), PRUNED)
def test_unknown_fields_are_pruned(data: Any, want: Any, lost: list[str]) -> None:
    kept, paths = schema.pruned(data, PRUNING)
    assert kept == want
    assert [fieldpath.to_text(path) for path in paths] == lost


def test_what_is_known_later_is_not_pruned() -> None:
    later = values.Ref("x", ("status", "id"))
    assert schema.pruned({"plain": later}, PRUNING) == ({"plain": later}, [])


def definition(*properties: Any, **spec: Any) -> dict[str, Any]:
    """A definition of the kind Probe with spec fields p0, p1, …"""
    fields = {f"p{index}": value for index, value in enumerate(properties)}
    rules = {"openAPIV3Schema": obj(spec=obj(**fields))}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "probes.test.example.org"},
        "spec": {
            "group": "test.example.org",
            "names": {"kind": "Probe", "listKind": "ProbeList", "plural": "probes", "singular": "probe"},
            "scope": "Cluster",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": rules}],
            **spec,
        },
    }


OLD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1beta1",
    "metadata": {"name": "probes.test.example.org"},
    "spec": {"version": "v1alpha3", "validation": {"openAPIV3Schema": obj(spec=obj(a=TEXT, raw={"type": "object"}))}},
}
STRICT_OLD = {**OLD, "spec": {**OLD["spec"], "preserveUnknownFields": False}}


@pytest.mark.parametrize(
    ("crd", "version", "known", "unknown"),
    [
        pytest.param(definition(TEXT), "v1", "spec.p0", "spec.p1", id="v1"),
        pytest.param(definition(TEXT), "v1", "metadata.labels.a", "metadata.lables", id="metadata"),
        pytest.param(OLD, "v1alpha3", "spec.a", "spec.b", id="v1beta1"),
        pytest.param(OLD, "v1alpha3", "spec.raw.any", "spec.raws", id="v1beta1-bare-object-takes-any"),
        pytest.param(STRICT_OLD, "v1alpha3", "spec.raw", "spec.raw.any", id="v1beta1-that-prunes"),
    ],
)
def test_crd_schema(crd: Any, version: str, known: str, unknown: str) -> None:
    found = schema.crd_schema(crd, version)
    assert found is not None
    assert schema.knows(found, fieldpath.parse(known))
    assert not schema.knows(found, fieldpath.parse(unknown))


@pytest.mark.parametrize(
    ("crd", "version"),
    [
        pytest.param(definition(TEXT), "v2", id="no-such-version"),
        pytest.param(crds.permissive_crd("a.b/v1", "X", namespaced=True, managed=False), "v1", id="permissive"),
        pytest.param({"spec": {"version": "v1"}}, "v1", id="no-schema"),
    ],
)
def test_crd_schema_that_says_nothing(crd: Any, version: str) -> None:
    assert schema.crd_schema({"metadata": {}, **crd}, version) is None


def test_a_whole_document_against_its_definition() -> None:
    found = schema.crd_schema(definition(INT), "v1")
    assert found is not None
    document = Document({"apiVersion": "test.example.org/v1", "metadata": {"nam": "x"}, "spec": {"p0": "1"}}, "a.yaml")
    problems = schema.check(document.data, found, document=document)
    assert [p.path for p in problems] == ["kind", "metadata.nam", "spec.p0"]


GOOD_SCHEMAS = [
    pytest.param(CLOSED, id="object"),
    pytest.param({**INT_OR_TEXT, "anyOf": [INT, TEXT]}, id="int-or-string-pair"),
    pytest.param(ONE, id="one-of"),
    pytest.param({**INT, "default": 5.0}, id="default"),
    pytest.param(KEYED, id="list-by-key"),
    pytest.param(obj(description=TEXT, type=TEXT, default=INT), id="fields-named-as-keywords"),
]
BAD_SCHEMAS = [
    pytest.param({"type": "strng"}, ".type", id="type"),
    pytest.param({"description": "x"}, "", id="no-type"),
    pytest.param({"type": "string", "patern": "a"}, ".patern", id="keyword"),
    pytest.param({"type": "string", "pattern": "a(?=b)"}, ".pattern", id="pattern"),
    pytest.param({"type": "string", "minLength": "3"}, ".minLength", id="keyword-value"),
    pytest.param({**TEXT, "required": True}, ".required", id="required-as-a-flag"),
    pytest.param({**INT, "default": "3"}, ".default", id="default"),
    pytest.param(obj(a={**obj(b=INT), "default": {"c": 1}}), ".properties.a.default.c", id="default-unknown-field"),
    pytest.param({**obj(a=TEXT), "additionalProperties": TEXT}, ".additionalProperties", id="fields-and-more"),
    pytest.param(array(TEXT, uniqueItems=True), ".uniqueItems", id="unique-items"),
    pytest.param(
        {**obj(a=TEXT), "anyOf": [{"properties": {"a": {"type": "string"}}}]},
        ".anyOf[0].properties.a.type",
        id="type-in-branch",
    ),
    pytest.param(
        obj(a={"items": TEXT, "type": "array", "x-kubernetes-list-type": "sets"}),
        ".properties.a.x-kubernetes-list-type",
        id="list-type",
    ),
]
BAD_SCHEMAS += [
    pytest.param({**KEYED, "x-kubernetes-list-map-keys": []}, "", id="list-without-keys"),
    pytest.param(
        {**KEYED, "items": obj(k=TEXT)}, ".x-kubernetes-list-map-keys", id="list-with-a-key-that-may-be-missing"
    ),
    pytest.param({**NUMBER, "multipleOf": 0, "default": 1}, ".multipleOf", id="multiple-of-nothing"),
]
OUR_OWN = [pytest.param(obj("b", a=TEXT), ".required", id="required-but-unknown")]
"""Schemas that an API server takes, although nothing can fulfil them."""


@pytest.mark.parametrize("rules", GOOD_SCHEMAS)
def test_good_schema(rules: Any) -> None:
    assert schema.check_schema(rules, document=None) == []


@pytest.mark.parametrize(("rules", "path"), BAD_SCHEMAS + OUR_OWN)
def test_bad_schema(rules: Any, path: str) -> None:
    problems = schema.check_schema(rules, document=None, at=("x",))
    assert [p.path for p in problems] == [f"x{path}"]
    assert problems[0].fix


def verdict(client: Cluster, path: str, body: Any, **query: str) -> str:
    try:
        client.request("POST", path, body, **query)
    except ApiError as error:
        return f"refused: {error.message}"
    return "accepted"


@pytest.mark.e2e
def test_a_real_api_server_agrees(tmp_path: Path) -> None:
    """Each row of the tables above, sent to a real API server."""
    cases = [(p.id, *p.values[:2]) for p in itertools.chain(ACCEPTED, REFUSED)]
    last = len(cases)
    probes = Resource("test.example.org/v1", "probes")

    def probe(index: int, spec: Any) -> Any:
        return {"apiVersion": "test.example.org/v1", "kind": "Probe", "metadata": {"name": f"x{index}"}, "spec": spec}

    rules = [rule for _, rule, _ in cases]
    with (
        lab.running(tmp_path, crds=[definition(*rules, DEFAULTS, PRUNING)], simulate=False) as plane,
        Cluster.of_file(plane.kubeconfig, manager="test") as client,
    ):
        answers = [
            verdict(client, probes.path(), probe(index, {f"p{index}": value}), fieldValidation="Strict")
            for index, (_, _, value) in enumerate(cases)
        ]
        kept = [
            client.request("POST", probes.path(), probe(last + index, {f"p{last}": p.values[0]}))["spec"][f"p{last}"]
            for index, p in enumerate(DEFAULTED)
        ]
        first = last + len(DEFAULTED)
        pruned = [
            client.request("POST", probes.path(), probe(first + i, {f"p{last + 1}": p.values[0]}))["spec"][
                f"p{last + 1}"
            ]
            for i, p in enumerate(PRUNED)
        ]
        schemas = [
            verdict(client, CRDS.path(), renamed(definition(p.values[0])), dryRun="All", fieldValidation="Strict")
            for p in GOOD_SCHEMAS + BAD_SCHEMAS
        ]
    disagreements = [
        (case[0], answer)
        for case, answer, want in zip(
            cases, answers, ["accepted"] * len(ACCEPTED) + ["refused"] * len(REFUSED), strict=True
        )
        if not answer.startswith(want)
    ]
    assert disagreements == []
    assert kept == [p.values[1] for p in DEFAULTED]
    assert pruned == [p.values[1] for p in PRUNED]
    expected = ["accepted"] * len(GOOD_SCHEMAS) + ["refused"] * len(BAD_SCHEMAS)
    assert [answer.partition(":")[0] for answer in schemas] == expected, schemas


def renamed(crd: dict[str, Any]) -> dict[str, Any]:
    names = {"kind": "Trial", "listKind": "TrialList", "plural": "trials", "singular": "trial"}
    return {**crd, "metadata": {"name": "trials.test.example.org"}, "spec": {**crd["spec"], "names": names}}
