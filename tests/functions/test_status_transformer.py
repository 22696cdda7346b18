"""function-status-transformer."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.functions import status_transformer
from claimsmith.functions.protocol import EXTRA_RESOURCES, Condition, Response, Severity, Target
from tests.support.function_calls import call

FAILED = {"type": "Ready", "status": "False", "reason": "Failed", "message": "cannot create: quota exceeded"}
FINE = {"type": "Ready", "status": "True", "reason": "Available"}


def thing(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}, "status": {"conditions": list(conditions)}}


OBSERVED = {"db-1": thing(FAILED), "db-2": thing(FINE), "bucket": thing(FINE)}


def run(*hooks: dict[str, Any], **more: Any) -> Response:
    data = {"apiVersion": "function-status-transformer.fn.crossplane.io/v1beta1", "kind": "StatusTransformation"}
    data = {**data, "statusConditionHooks": list(hooks)}
    return call(status_transformer, "function-status-transformer", data, observed=OBSERVED, **more)


def hook(resources: str, conditions: list[dict[str, Any]], **matcher: Any) -> dict[str, Any]:
    return {
        "matchers": [{"resources": [{"name": resources}], "conditions": conditions, **matcher}],
        "setConditions": [{"condition": {"type": "Matched", "status": "True", "reason": "Yes"}}],
    }


YES = {"setConditions": [{"condition": {"type": "Matched", "status": "True", "reason": "Yes"}}]}
NOT_READY = {"type": "Ready", "status": "False"}
READY = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("each", "matched"),
    [
        (hook("^db-1$", [NOT_READY]), True),
        (hook("db-.*", [NOT_READY]), False),
        (hook("db-.*", [NOT_READY], type="AnyResourceMatchesAllConditions"), True),
        (hook("db-.*", [NOT_READY, READY], type="AllResourcesMatchAnyCondition"), True),
        (hook("db-.*", [NOT_READY, READY], type="AnyResourceMatchesAllConditions"), False),
        (hook("db-.*", [{"type": "Other", "status": "Unknown"}]), True),
        (hook("absent", [READY]), False),
        (hook("db-1", []), False),
        (hook("db-1", [{"type": "Ready", "reason": "Failed"}]), True),
        (hook("db-1", [{"type": "Ready", "message": "quota"}]), True),
        (hook("db-1", [{"type": "Ready", "message": "^quota"}]), False),
        ({**hook("db-1", [READY]), "matchers": []}, False),
        (hook("db-1", [READY, {"type": "Ready", "message": "("}]), False),
        (hook("db-1", [NOT_READY, {"type": "Ready", "message": "("}], type="AnyResourceMatchesAnyCondition"), True),
        ({"matchers": [{"resources": [{}], "conditions": [{"type": "Ready"}]}], **YES}, True),
    ],
)
def test_matching(each: dict[str, Any], matched: bool) -> None:
    types = [c.type for c in run(each).conditions]
    assert ("Matched" in types) is matched
    assert types[-1] == "StatusTransformationSuccess"


def test_messages_with_what_was_captured() -> None:
    condition = {"type": "Ready", "message": "cannot create: (?P<why>.+)"}
    each = hook("db-1", [condition])
    each["setConditions"] = [
        {
            "target": "CompositeAndClaim",
            "condition": {"type": "Db", "status": "False", "reason": "R", "message": "no database: {{ .why }}"},
        }
    ]
    each["createEvents"] = [{"event": {"type": "Warning", "reason": "E", "message": "because {{ .why }}"}}]
    response = run(each)
    assert response.conditions[0] == Condition(
        "Db", "False", "R", "no database: quota exceeded", Target.composite_and_claim
    )
    [event] = response.results
    assert (event.severity, event.message, event.reason) == (Severity.warning, "because quota exceeded", "E")


def test_a_group_that_nothing_captured_has_no_value() -> None:
    each = hook("db-1", [{"type": "Ready", "message": "(?P<why>quota)"}])
    each["setConditions"][0]["condition"]["message"] = "{{ .why }} {{ .other }}"
    assert run(each).conditions[0].message == "quota <no value>"


@pytest.mark.parametrize(("force", "reasons"), [(False, ["Yes"]), (True, ["Yes", "Other"])])
def test_a_condition_that_is_set_already(force: bool, reasons: list[str]) -> None:
    second = hook("db-1", [NOT_READY])
    second["setConditions"] = [{"force": force, "condition": {"type": "Matched", "status": "True", "reason": "Other"}}]
    found = run(hook("db-1", [NOT_READY]), second).conditions
    assert [c.reason for c in found if c.type == "Matched"] == reasons


def test_the_composite_and_extra_resources() -> None:
    composite = hook("none", [READY], includeCompositeAsResource=True)
    xr = {"apiVersion": "example.org/v1", "kind": "XNetwork", "status": {"conditions": [FINE]}}
    assert run(composite, composite=xr).conditions[0].type == "Matched"
    extra = hook(r"extra-resource\.things\..*\.t", [READY], includeExtraResources=True)
    context = {EXTRA_RESOURCES: {"things": [thing(FINE)]}}
    assert run(extra, context=context).conditions[0].type == "Matched"
    assert run(extra).conditions[0].type == "StatusTransformationSuccess"


@pytest.mark.parametrize(
    ("each", "reason"),
    [
        (hook("(", [READY]), "MatchFailure"),
        (hook("db-1", [{"type": "Ready", "message": "("}]), "MatchFailure"),
        ({"unknown": True}, "InputFailure"),
        (
            {**hook("db-1", [NOT_READY]), "createEvents": [{"event": {"type": "Loud", "message": "m"}}]},
            "SetConditionFailure",
        ),
    ],
    ids=["resource pattern", "message pattern", "input", "event"],
)
def test_failures_are_conditions(each: dict[str, Any], reason: str) -> None:
    found = [c for c in run(each).conditions if c.type == "StatusTransformationSuccess"]
    assert [(c.status, c.reason) for c in found] == [("False", reason)]


def test_a_condition_without_a_status_is_unknown() -> None:
    each = {**hook("db-1", [NOT_READY]), "setConditions": [{"condition": {"type": "Matched"}}]}
    assert run(each).conditions[0] == Condition("Matched", "Unknown", "", "")


UNKNOWN = [{"type": "Ready", "status": "Unknown"}]
NONE = [{"type": "Ready", "status": "", "reason": "", "message": "^$"}]


@pytest.mark.parametrize(
    ("existing", "conditions"),
    [
        ({"status": {}}, UNKNOWN),
        ({"status": None}, UNKNOWN),
        ({"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": None}]}}, UNKNOWN),
        ({}, NONE),
        ({"status": "fine"}, NONE),
        ({"status": {"conditions": [{"type": "Ready", "status": True}]}}, NONE),
        ({"status": {"conditions": [FINE, {"type": 1}]}}, NONE),
    ],
)
def test_a_status_that_is_missing_or_cannot_be_read(existing: dict[str, Any], conditions: list[dict[str, Any]]) -> None:
    composite = {"apiVersion": "example.org/v1", "kind": "XNetwork", **existing}
    each = hook("none", conditions, includeCompositeAsResource=True)
    assert run(each, composite=composite).conditions[0].type == "Matched"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (["x"], "type: []interface {}"),
        ({"things": {"items": []}}, "value type for things: map[string]interface {}"),
        ({"things": ["x"]}, "value type for things [0]: string"),
    ],
    ids=["a list", "no list", "no object"],
)
def test_extra_resources_of_another_form(found: Any, message: str) -> None:
    extra = hook("(", [READY], includeExtraResources=True)
    conditions = run(
        hook("db-1", [NOT_READY]), extra, hook("db-1", [READY]), context={EXTRA_RESOURCES: found}
    ).conditions
    assert [c.reason for c in conditions] == ["Yes", "InputFailure"]
    assert conditions[-1].message == f"cannot load extra-resources: unexpected extra-resources {message}"
