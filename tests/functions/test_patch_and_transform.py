"""The patch engine of Crossplane, rule by rule: order, sources and targets, what is skipped, reported or refused."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, EngineError, ModelError
from claimsmith.dialects.common.klass import Check, Detail, Step
from claimsmith.dialects.crossplane.resources_input import read_step
from claimsmith.functions import patch_and_transform, protocol
from claimsmith.functions.patch_and_transform import Desired, Existing, Observed, State
from claimsmith.functions.protocol import Ready, Request, Resource
from claimsmith.functions.registry import Place
from claimsmith.patching import details
from claimsmith.patching.readiness import is_ready

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XR",
    "metadata": {"name": "xr", "uid": "1"},
    "spec": {"size": 3, "name": "db", "tags": ["a"], "labels": {"team": "x"}, "nothing": None},
}
BASE = {"apiVersion": "example.org/v1", "kind": "Bucket", "spec": {"list": [{"n": 1}, {"n": 2}], "keep": {"a": 1}}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def template(*patches: dict[str, Any], name: str = "bucket", base: Any = BASE, **more: Any) -> dict[str, Any]:
    return {"name": name, **({"base": base} if base else {}), "patches": list(patches), **more}


def step_of(*templates: dict[str, Any], **more: Any) -> Step:
    data = {"resources": list(templates), **more}
    return read_step(Document(data, "composition.yaml"), data, (), name="pt", function="pt", warnings=[])


def run(*templates: dict[str, Any], existing: dict[str, Any] | None = None, state: State | None = None, **more: Any):
    state = state or State()
    observed = {name: Existing(document) for name, document in (existing or {}).items()}
    patch_and_transform.run_step(step_of(*templates, **more), Observed(copy.deepcopy(XR), observed), state)
    return state


def spec_of(state: State, name: str = "bucket") -> Any:
    return state.resources[name].document["spec"]


def combine(kind: str, to: str, *paths: str, **more: Any) -> dict[str, Any]:
    variables = [{"fromFieldPath": p} for p in paths]
    combined = {"strategy": "string", "string": {"fmt": "-".join(["%v"] * len(paths))}, "variables": variables}
    return {"type": kind, "combine": combined, "toFieldPath": to, **more}


# What a patch does


@pytest.mark.parametrize(
    ("patches", "want"),
    [
        pytest.param([{"fromFieldPath": "spec.size"}], {"size": 3}, id="type-and-target-left-out"),
        pytest.param([{"fromFieldPath": "spec.size", "toFieldPath": "spec.a.b"}], {"a": {"b": 3}}, id="parents-made"),
        pytest.param([{"fromFieldPath": "spec.nothing"}], {"nothing": None}, id="null-that-is-there-is-patched"),
        pytest.param([{"fromFieldPath": "spec.absent"}], {}, id="optional-source-missing"),
        pytest.param(
            [{"fromFieldPath": "spec.size", "toFieldPath": "spec.list[*].n"}],
            {"list": [{"n": 3}, {"n": 3}]},
            id="wildcard",
        ),
        pytest.param(
            [combine("CombineFromComposite", "spec.joined", "spec.name", "spec.size")], {"joined": "db-3"}, id="combine"
        ),
        pytest.param([combine("CombineFromComposite", "spec.joined", "spec.name", "x")], {}, id="combine-one-missing"),
        pytest.param(
            [combine("CombineFromComposite", "spec.odd[*]", "spec.name")],
            {"odd": {"*": "db"}},
            id="combine-never-expands",
        ),
        pytest.param(
            [{"fromFieldPath": "spec.labels", "toFieldPath": "spec.keep"}], {"keep": {"team": "x"}}, id="replace"
        ),
        pytest.param(
            [{"fromFieldPath": "spec.labels", "toFieldPath": "spec.keep", "policy": {"toFieldPath": "MergeObjects"}}],
            {"keep": {"a": 1, "team": "x"}},
            id="merge-objects",
        ),
        pytest.param(
            [
                {"fromFieldPath": "spec.size", "toFieldPath": "spec.x"},
                {"fromFieldPath": "spec.name", "toFieldPath": "spec.x"},
            ],
            {"x": "db"},
            id="in-order",
        ),
        pytest.param(
            [
                {
                    "fromFieldPath": "spec.size",
                    "toFieldPath": "spec.x",
                    "transforms": [
                        {"type": "math", "math": {"multiply": 2}},
                        {"type": "string", "string": {"fmt": "%dGi"}},
                    ],
                }
            ],
            {"x": "6Gi"},
            id="transforms-in-order-integers-stay",
        ),
        pytest.param([{"fromFieldPath": "spec.size", "toFieldPath": ""}], {}, id="empty-target-writes-nothing"),
    ],
)
def test_patches_to_a_resource(patches: list[dict[str, Any]], want: dict[str, Any]) -> None:
    assert spec_of(run(template(*patches))) == {**BASE["spec"], **want}


def test_the_base_and_the_composite_stay_as_they_are() -> None:
    before = copy.deepcopy((XR, BASE))
    run(template({"fromFieldPath": "spec.labels", "toFieldPath": "spec.keep"}))
    assert before == (XR, BASE)


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param({"fromFieldPath": "spec.size[0]"}, id="index-on-a-scalar"),
        pytest.param({"fromFieldPath": "spec.tags.x"}, id="field-of-an-array"),
        pytest.param({"fromFieldPath": "spec.tags[*]"}, id="wildcard-is-no-source"),
        pytest.param({"fromFieldPath": "spec.size", "toFieldPath": "spec.list.x"}, id="field-into-an-array"),
        pytest.param({"fromFieldPath": "spec.size", "toFieldPath": "spec.list[*].absent"}, id="wildcard-without-match"),
        pytest.param({"fromFieldPath": "spec.size", "toFieldPath": "spec.list[2000]"}, id="index-too-high"),
        pytest.param({"fromFieldPath": "spec..size"}, id="path-that-cannot-be-parsed"),
        pytest.param(
            {"fromFieldPath": "spec.name", "transforms": [{"type": "math", "math": {"multiply": 2}}]},
            id="transform-fails",
        ),
        pytest.param(
            {"fromFieldPath": "spec.name", "transforms": [{"type": "map", "map": {"a": "b"}}]}, id="map-without-key"
        ),
    ],
)
def test_everything_but_a_missing_source_is_fatal_even_if_optional(patch: dict[str, Any]) -> None:
    with pytest.raises(ComposeError) as caught:
        run(template({"fromFieldPath": "spec.size"}, patch))
    problem = caught.value.problems[0]
    assert 'cannot render composed resource "bucket" "FromCompositeFieldPath" patch at index 1' in problem.what
    assert problem.path == ".resources[0].patches[1]"
    assert problem.fix


# Sources that are not there


REQUIRED = {"policy": {"fromFieldPath": "Required"}}


def test_required_and_missing_leaves_a_new_resource_out() -> None:
    state = run(template({"fromFieldPath": "spec.absent", **REQUIRED}), template(name="other"))
    assert list(state.resources) == ["other"]
    assert state.held_back
    assert "not adding new composed resource" in state.warnings[0].what


def test_required_and_missing_is_told_where_the_resource_exists() -> None:
    patches = [{"fromFieldPath": "spec.absent", **REQUIRED}, {"fromFieldPath": "spec.size"}]
    state = run(template(*patches), existing={"bucket": {"metadata": {"name": "b"}}})
    assert spec_of(state)["size"] == 3
    assert not state.held_back
    assert "already exists" in state.warnings[0].what


def test_required_to_the_composite_never_leaves_a_resource_out() -> None:
    patch = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.absent", "toFieldPath": "status.x", **REQUIRED}
    state = run(template(patch), existing={"bucket": {"status": {}}})
    assert "bucket" in state.resources
    assert "already exists" in state.warnings[0].what
    assert run(template(patch)).warnings == []


def test_no_more_patches_once_a_resource_is_left_out() -> None:
    broken = {"fromFieldPath": "spec.size[0]"}
    assert run(template({"fromFieldPath": "spec.absent", **REQUIRED}, broken)).resources == {}


def test_skipped_patches_are_told_with_their_reason() -> None:
    to_composite = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.x"}
    state = run(template({"fromFieldPath": "spec.absent"}, to_composite, {"fromFieldPath": "spec.size"}))
    assert [(name, o.applied, o.why) for name, o in state.outcomes] == [
        ("bucket", False, "spec.absent: no such field"),
        ("bucket", False, "the resource does not exist yet"),
        ("bucket", True, ""),
    ]


def test_wildcard_over_null_counts_as_missing() -> None:
    base = {**BASE, "spec": {"list": None}}
    state = run(template({"fromFieldPath": "spec.size", "toFieldPath": "spec.list[*]"}, base=base))
    assert spec_of(state) == {"list": None}


# From the resource, and the environment


def test_patches_from_a_resource_read_what_exists_and_write_what_is_desired() -> None:
    existing = {"bucket": {"status": {"arn": "arn:1", "port": 5}, "spec": {"size": 9}}}
    patches = [
        {"type": "ToCompositeFieldPath", "fromFieldPath": "status.arn", "toFieldPath": "status.arn"},
        combine("CombineToComposite", "status.both", "status.arn", "status.port"),
        {"type": "ToEnvironmentFieldPath", "fromFieldPath": "status.arn", "toFieldPath": "arn"},
        combine("CombineToEnvironment", "both", "status.arn", "status.port"),
    ]
    state = run(template(*patches), existing=existing)
    assert state.composite["status"] == {"arn": "arn:1", "both": "arn:1-5"}
    assert (state.environment["arn"], state.environment["both"]) == ("arn:1", "arn:1-5")


def test_a_status_that_is_written_is_not_read_in_the_same_step() -> None:
    to = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.arn", "toFieldPath": "status.arn"}
    from_ = {"fromFieldPath": "status.arn", "toFieldPath": "spec.arn"}
    state = run(template(to), template(from_, name="second"), existing={"bucket": {"status": {"arn": "1"}}})
    assert "arn" not in spec_of(state, "second")


def test_the_environment_flows_down_the_list() -> None:
    to = {"type": "ToEnvironmentFieldPath", "fromFieldPath": "status.arn", "toFieldPath": "arn"}
    from_ = [
        {"type": "FromEnvironmentFieldPath", "fromFieldPath": "arn", "toFieldPath": "spec.arn"},
        combine("CombineFromEnvironment", "spec.twice", "arn", "arn"),
    ]
    state = run(template(to), template(*from_, name="second"), existing={"bucket": {"status": {"arn": "1"}}})
    assert (spec_of(state, "second")["arn"], spec_of(state, "second")["twice"]) == ("1", "1-1")


@pytest.mark.parametrize(
    ("patch", "want"),
    [
        pytest.param({"fromFieldPath": "spec.size", "toFieldPath": "size"}, ("env", "size", 3), id="from-composite"),
        pytest.param(
            {"type": "ToEnvironmentFieldPath", "fromFieldPath": "spec.size", "toFieldPath": "size"},
            ("env", "size", 3),
            id="to-environment",
        ),
        pytest.param(
            combine("CombineFromComposite", "x", "spec.name", "spec.size"), ("env", "x", "db-3"), id="combine"
        ),
        pytest.param(
            {"type": "ToCompositeFieldPath", "fromFieldPath": "known", "toFieldPath": "status"},
            ("xr", "status", 7),
            id="to-composite",
        ),
        pytest.param(
            {"type": "FromEnvironmentFieldPath", "fromFieldPath": "known", "toFieldPath": "status"},
            ("xr", "status", 7),
            id="from-environment",
        ),
        pytest.param(
            combine("CombineToComposite", "status", "known"), ("xr", "status", "7"), id="combine-to-composite"
        ),
    ],
)
def test_patches_of_the_environment(patch: dict[str, Any], want: tuple[str, str, Any]) -> None:
    state = run(environment={"patches": [patch]}, state=State(environment={"known": 7}))
    side = {"env": state.environment, "xr": state.composite}[want[0]]
    assert side[want[1]] == want[2]


def test_patches_of_the_environment_come_first() -> None:
    first = {"fromFieldPath": "spec.size", "toFieldPath": "size"}
    from_ = {"type": "FromEnvironmentFieldPath", "fromFieldPath": "size", "toFieldPath": "spec.size"}
    assert spec_of(run(template(from_), environment={"patches": [first]}))["size"] == 3


def test_required_and_missing_is_fatal_in_the_environment() -> None:
    with pytest.raises(ComposeError):
        run(template(), environment={"patches": [{"fromFieldPath": "spec.absent", **REQUIRED}]})
    assert "absent" not in run(template(), environment={"patches": [{"fromFieldPath": "spec.absent"}]}).environment


# Bases and patch sets


def test_a_template_without_a_base_patches_what_an_earlier_step_made() -> None:
    state = State(resources={"bucket": Desired({"kind": "Bucket", "spec": {"a": 1}})})
    run(template({"fromFieldPath": "spec.size"}, base=None), state=state)
    assert spec_of(state) == {"a": 1, "size": 3}


def test_a_base_replaces_what_an_earlier_step_made() -> None:
    state = State(resources={"bucket": Desired({"kind": "Bucket", "spec": {"a": 1}})})
    assert spec_of(run(template(), state=state)) == BASE["spec"]


def test_neither_base_nor_earlier_step() -> None:
    with pytest.raises(ComposeError) as caught:
        run(template(base=None))
    assert "has no base" in caught.value.problems[0].what


@pytest.mark.parametrize("earlier", [Ready.true, Ready.false])
def test_verdicts_of_earlier_steps_are_lost(earlier: Ready) -> None:
    """On the composite, and on each resource that the step composes, too."""
    made = Resource({"apiVersion": "v1", "kind": "Bucket"}, ready=earlier)
    desired = protocol.State(Resource({}, ready=earlier), {"bucket": made, "based": made, "other": made})
    step = step_of(template(base=None), template(name="based"))
    request = Request(protocol.State(Resource(copy.deepcopy(XR))), desired)
    response = patch_and_transform.bind(Place(step, Document({}, "composition.yaml")))(request)
    assert response.desired.composite.ready is Ready.unspecified
    found = {name: resource.ready for name, resource in response.desired.resources.items()}
    assert found == {"bucket": Ready.unspecified, "based": Ready.unspecified, "other": earlier}


@pytest.mark.parametrize(
    ("patch", "state"),
    [
        pytest.param({"fromFieldPath": "spec.size", "toFieldPath": "kind"}, State(), id="number"),
        pytest.param(
            {"type": "ToEnvironmentFieldPath", "fromFieldPath": "kind", "toFieldPath": "a"},
            State(environment={"apiVersion": "example.org/v1"}),
            id="environment-without-one",
        ),
    ],
)
def test_a_target_has_a_kind_after_each_patch(patch: dict[str, Any], state: State) -> None:
    with pytest.raises(ComposeError) as caught:
        run(template(patch), existing={"bucket": {"kind": "Bucket"}}, state=state)
    assert "has no kind" in caught.value.problems[0].what


def test_patch_sets_stand_where_they_are_named() -> None:
    sets = [{"name": "common", "patches": [{"fromFieldPath": "spec.size", "toFieldPath": "spec.x"}]}]
    named = {"type": "PatchSet", "patchSetName": "common"}
    over = {"fromFieldPath": "spec.name", "toFieldPath": "spec.x"}
    assert spec_of(run(template(named, over), patchSets=sets))["x"] == "db"
    assert spec_of(run(template(over, named), patchSets=sets))["x"] == 3


@pytest.mark.parametrize(
    ("more", "path"),
    [
        pytest.param(
            {"resources": [template({"type": "PatchSet", "patchSetName": "absent"})]},
            ".resources[0].patches[0].patchSetName",
            id="unknown-set",
        ),
        pytest.param(
            {
                "resources": [template()],
                "patchSets": [{"name": "a", "patches": [{"type": "PatchSet", "patchSetName": "b"}]}],
            },
            "patchSets[0].patches[0].type",
            id="set-within-a-set",
        ),
        pytest.param({"resources": [template(), template()]}, ".resources[1].name", id="two-of-a-name"),
        pytest.param({"resources": []}, "resources", id="nothing-to-do"),
        pytest.param({"resources": [template(base={"kind": "X"})]}, "resources[0].base", id="base-without-apiversion"),
        pytest.param(
            {"environment": {"patches": [combine("CombineToEnvironment", "x", "y")]}},
            "environment.patches[0].type",
            id="type-that-no-environment-takes",
        ),
        pytest.param(
            {"resources": [template()], "writeConnectionSecretToRef": {"patches": [{"fromFieldPath": "spec.size"}]}},
            "writeConnectionSecretToRef.patches[0]",
            id="secret-has-no-such-field",
        ),
        pytest.param({"resources": [template(patchez=[])]}, "resources[0].patchez", id="unknown-field"),
        pytest.param(
            {"patchSets": [{"name": "a", "patches": [{"fromFieldPath": "spec.size", "patchSetName": "b"}]}]},
            "patchSets[0].patches[0].patchSetName",
            id="name-of-a-set-within-a-set",
        ),
        pytest.param(
            {"resources": [template({"fromFieldPath": "spec.size", "policy": {"mergeOptions": {}}})]},
            ".resources[0].patches[0].policy.mergeOptions",
            id="merge-options-of-mode-resources",
        ),
        pytest.param(
            {"resources": [template({"fromFieldPath": "spec.size", "transforms": [{"type": "math", "math": None}]})]},
            "resources[0].patches[0].transforms[0].math",
            id="null-is-missing",
        ),
        pytest.param(
            {"resources": [template(readinessChecks=[{"type": "MatchString", "matchString": None, "fieldPath": "a"}])]},
            "resources[0].readinessChecks[0].matchString",
            id="null-is-needed",
        ),
    ],
)
def test_refused_inputs(more: dict[str, Any], path: str) -> None:
    with pytest.raises(ModelError) as caught:
        step_of(template(), **more)
    assert caught.value.problems[0].path == path
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"kind": "Input"}, id="kind-of-the-input"),
        pytest.param(
            {"resources": [template(readinessChecks=[{"type": "None", "matchCondition": {"type": "Ready"}}])]},
            id="condition-of-another-check",
        ),
    ],
)
def test_what_no_patch_needs_is_not_checked(more: dict[str, Any]) -> None:
    assert step_of(template(), **more).templates


def test_all_that_is_wrong_is_told_at_once() -> None:
    broken = template({"type": "CombineFromComposite"}, {"type": "Olala"}, readinessChecks=[{"type": "MatchString"}])
    with pytest.raises(ModelError) as caught:
        step_of(broken)
    assert [p.path for p in caught.value.problems] == [
        "resources[0].patches[0].combine",
        "resources[0].patches[0].toFieldPath",
        "resources[0].patches[1].type",
        "resources[0].readinessChecks[0].matchString",
        "resources[0].readinessChecks[0].fieldPath",
    ]


# Identity, readiness, connection details


def test_name_and_namespace_of_what_exists_are_kept() -> None:
    base = {**BASE, "metadata": {"name": "wished", "namespace": "wished"}}
    state = run(template(base=base), existing={"bucket": {"metadata": {"name": "is"}}})
    assert state.resources["bucket"].document["metadata"] == {"name": "is"}


@pytest.mark.parametrize("base", [BASE, {**BASE, "metadata": {}}])
def test_what_exists_without_a_name_adds_no_metadata(base: dict[str, Any]) -> None:
    state = run(template(base=base), existing={"bucket": {"metadata": {"labels": {"a": "b"}}}})
    assert state.resources["bucket"].document == base


OBJECT = {
    "spec": {"text": "a", "number": 5, "whole": 5.0, "yes": True, "no": False, "null": None, "empty": "", "huge": 1e21},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "False"}]},
}


@pytest.mark.parametrize(
    ("check", "want"),
    [
        pytest.param(Check("None"), True, id="none"),
        pytest.param(Check("NonEmpty", "spec.text"), True, id="non-empty"),
        pytest.param(Check("NonEmpty", "spec.null"), True, id="null-is-there"),
        pytest.param(Check("NonEmpty", "spec.empty"), True, id="empty-text-is-there"),
        pytest.param(Check("NonEmpty", "spec.absent"), False, id="non-empty-missing"),
        pytest.param(Check("MatchString", "spec.text", "a"), True, id="string"),
        pytest.param(Check("MatchString", "spec.text", "b"), False, id="string-other"),
        pytest.param(Check("MatchInteger", "spec.number", 5), True, id="integer"),
        pytest.param(Check("MatchInteger", "spec.whole", 5), True, id="whole-float-is-an-integer"),
        pytest.param(Check("MatchInteger", "spec.number", 6), False, id="integer-other"),
        pytest.param(Check("MatchTrue", "spec.yes"), True, id="true"),
        pytest.param(Check("MatchTrue", "spec.no"), False, id="true-is-false"),
        pytest.param(Check("MatchFalse", "spec.no"), True, id="false"),
        pytest.param(Check("MatchFalse", "spec.absent"), False, id="false-missing"),
        pytest.param(Check("MatchCondition", condition=("Synced", "False")), True, id="condition"),
        pytest.param(Check("MatchCondition", condition=("Synced", "True")), False, id="condition-other"),
        pytest.param(Check("MatchCondition", condition=("Other", "Unknown")), True, id="absent-condition-is-unknown"),
    ],
)
def test_readiness(check: Check, want: bool) -> None:
    assert is_ready(OBJECT, [check]) is want


def test_no_checks_ask_for_the_condition_ready() -> None:
    assert is_ready(OBJECT, [])
    assert not is_ready({}, [])
    assert not is_ready({"status": {"conditions": "odd"}}, [])


TRUE = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("status", "ready", "unknown"),
    [
        pytest.param({"conditions": [TRUE]}, True, False, id="ready"),
        pytest.param({"conditions": [None, TRUE]}, True, False, id="null-is-no-condition"),
        pytest.param(
            {"conditions": [{**TRUE, "lastTransitionTime": "2024-01-01T01:02:03.5+02:00", "observedGeneration": 2}]},
            True,
            False,
            id="all-fields",
        ),
        pytest.param({"conditions": [TRUE, {"type": "Other", "status": 5}]}, False, False, id="another-is-no-text"),
        pytest.param({"conditions": [TRUE, "Ready"]}, False, False, id="another-is-no-object"),
        pytest.param(
            {"conditions": [{**TRUE, "lastTransitionTime": "2024-01-01"}]}, False, False, id="date-is-no-time"
        ),
        pytest.param({"conditions": [{**TRUE, "observedGeneration": "2"}]}, False, False, id="generation-is-text"),
        pytest.param({"conditions": {"Ready": "True"}}, False, False, id="no-list"),
        pytest.param({"conditions": {}}, False, False, id="empty-object"),
        pytest.param({"conditions": None}, False, True, id="null"),
        pytest.param({}, False, True, id="none"),
        pytest.param(None, False, True, id="status-is-null"),
        pytest.param("odd", False, False, id="status-is-text"),
    ],
)
def test_conditions_are_read_together_or_not_at_all(status: Any, ready: bool, unknown: bool) -> None:
    assert is_ready({"status": status}, []) is ready
    assert is_ready({"status": status}, [Check("MatchCondition", condition=("Ready", "Unknown"))]) is unknown


def test_without_a_status_no_condition_is_unknown() -> None:
    assert not is_ready({}, [Check("MatchCondition", condition=("Ready", "Unknown"))])


@pytest.mark.parametrize(
    ("check", "want"),
    [
        pytest.param(Check("MatchString", "spec.number", "5"), "spec.number: not a string", id="string"),
        pytest.param(Check("MatchInteger", "spec.yes", 1), "spec.yes: not a (int64) number", id="integer"),
        pytest.param(Check("MatchFalse", "spec.text"), "spec.text: not a bool", id="boolean"),
    ],
)
def test_the_reason_is_the_one_of_crossplane(check: Check, want: str) -> None:
    with pytest.raises(EngineError) as caught:
        is_ready(OBJECT, [check])
    assert caught.value.problems[0].what == f"cannot run readiness check at index 0: {want}"


def test_all_checks_must_hold() -> None:
    assert not is_ready(OBJECT, [Check("NonEmpty", "spec.text"), Check("MatchTrue", "spec.no")])


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(Check("MatchString", "spec.number", "5"), id="number-for-text"),
        pytest.param(Check("MatchInteger", "spec.yes", 1), id="boolean-for-integer"),
        pytest.param(Check("MatchInteger", "spec.huge", 1), id="more-than-64-bits"),
        pytest.param(Check("MatchTrue", "spec.text"), id="text-for-boolean"),
        pytest.param(Check("NonEmpty", "spec.text.x"), id="field-of-a-text"),
    ],
)
def test_checks_that_cannot_be_made(check: Check) -> None:
    with pytest.raises(EngineError):
        is_ready(OBJECT, [check])


def test_a_check_that_cannot_be_made_is_a_warning_and_not_ready() -> None:
    checks = [{"type": "MatchTrue", "fieldPath": "spec.text"}]
    state = run(template(readinessChecks=checks), existing={"bucket": OBJECT})
    assert not state.resources["bucket"].ready
    assert "cannot check readiness" in state.warnings[0].what


def test_connection_details_that_are_there_and_those_that_are_missing() -> None:
    wanted = [
        Detail("user", "username"),
        Detail("absent", "absent"),
        Detail("text", "", field_path="spec.text"),
        Detail("json", "", field_path="status.conditions[1]"),
        Detail("none", "", field_path="spec.text.x"),
        Detail("port", "", value="5432"),
    ]
    found, missing = details.extract(wanted, OBJECT, {"username": b"me"})
    text = b'{"status":"False","type":"Synced"}'
    assert found == {"user": b"me", "text": b"a", "json": text, "port": b"5432"}
    assert missing == ["absent", "none"]


DETAILS = [{"name": "port", "type": "FromValue", "value": "1"}]


def test_details_are_gathered_only_once_the_resource_exists() -> None:
    assert run(template(connectionDetails=DETAILS)).details == {}
    assert run(template(connectionDetails=DETAILS), existing={"bucket": {}}).details == {"port": b"1"}


def test_the_later_template_wins_a_detail() -> None:
    second = template(name="second", connectionDetails=[{**DETAILS[0], "value": "2"}])
    state = run(template(connectionDetails=DETAILS), second, existing={"bucket": {}, "second": {}})
    assert state.details == {"port": b"2"}


def modern(**spec: Any) -> dict[str, Any]:
    return {**XR, "metadata": {"name": "xr", "namespace": "ns"}, "spec": {"crossplane": {}, "env": "prod", **spec}}


@pytest.mark.parametrize(
    ("composite", "wish", "want"),
    [
        pytest.param(modern(), {}, ("xr-connection", "ns"), id="derived"),
        pytest.param(modern(), {"name": "a"}, ("a", ""), id="given-as-a-whole"),
        pytest.param(
            modern(writeConnectionSecretToRef={"name": "b", "namespace": "c"}),
            {"name": "a"},
            ("b", "c"),
            id="composite",
        ),
        pytest.param(modern(writeConnectionSecretToRef=None), {"name": "a"}, ("", ""), id="null-of-the-composite"),
        pytest.param(
            modern(writeConnectionSecretToRef={"name": 5}), {"name": "a"}, ("a", ""), id="number-of-the-composite"
        ),
        pytest.param(
            modern(), {"patches": [{"fromFieldPath": "spec.env", "toFieldPath": "name"}]}, ("prod", "ns"), id="patched"
        ),
        pytest.param(
            modern(),
            {"patches": [{"fromFieldPath": "spec.env[0]", "toFieldPath": "name"}]},
            ("xr-connection", "ns"),
            id="optional-swallows-every-error",
        ),
    ],
)
def test_place_of_the_composed_secret(composite: dict[str, Any], wish: dict[str, Any], want: tuple[str, str]) -> None:
    assert details.secret_destination(composite, step_of(template(), writeConnectionSecretToRef=wish).secret) == want


def test_a_secret_without_a_place_has_no_metadata() -> None:
    composite = modern(writeConnectionSecretToRef={})
    assert "metadata" not in details.secret(composite, step_of(template()).secret, {"a": b"b"})


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param({"fromFieldPath": "spec.absent", "toFieldPath": "name", **REQUIRED}, id="required"),
        pytest.param(combine("CombineFromComposite", "name", "spec.absent"), id="combination"),
    ],
)
def test_place_of_the_composed_secret_refused(patch: dict[str, Any]) -> None:
    place = step_of(template(), writeConnectionSecretToRef={"patches": [patch]}).secret
    with pytest.raises(EngineError):
        details.secret_destination(modern(), place)


# Whatever comes, the errors are ours

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc*"), inner, max_size=3),
    max_leaves=8,
)
_PATH = st.text(alphabet="abc*.[]0'", max_size=8) | st.sampled_from(["spec", "spec.a", "spec.a[*].b", "spec[0]"])
_TRANSFORM = st.sampled_from(
    [
        {"type": "math", "math": {"multiply": 2}},
        {"type": "map", "map": {"a": 1}},
        {"type": "string", "string": {"fmt": "%s"}},
        {"type": "string", "string": {"type": "Join", "join": {"separator": ","}}},
        {"type": "convert", "convert": {"toType": "int64"}},
        {"type": "match", "match": {"patterns": [{"literal": "a", "result": 1}]}},
    ]
)
_TYPES = ["FromComposite", "ToComposite", "FromEnvironment", "ToEnvironment"]
_POLICIES = [
    "Replace",
    "MergeObjects",
    "MergeObjectsAppendArrays",
    "ForceMergeObjects",
    "ForceMergeObjectsAppendArrays",
]


@st.composite
def _patches(draw: st.DrawFn) -> dict[str, Any]:
    policy = {
        "fromFieldPath": draw(st.sampled_from(["Optional", "Required"])),
        "toFieldPath": draw(st.sampled_from(_POLICIES)),
    }
    rest = {"policy": policy, "transforms": draw(st.lists(_TRANSFORM, max_size=2))}
    kind, source, target = draw(st.sampled_from(_TYPES)), draw(_PATH) or "a", draw(_PATH) or "a"
    if draw(st.booleans()):
        return combine(f"Combine{kind}", target, source, **rest)
    return {"type": f"{kind}FieldPath", "fromFieldPath": source, "toFieldPath": target, **rest}


@given(
    patches=st.lists(_patches(), max_size=3),
    base=st.dictionaries(st.sampled_from(["spec", "metadata", "a"]), _JSON, max_size=2),
    composite=_JSON,
    existing=st.none() | st.dictionaries(st.sampled_from(["spec", "status", "metadata"]), _JSON, max_size=2),
)
def test_patches_raise_nothing_but_our_errors(
    patches: list[dict[str, Any]], base: dict[str, Any], composite: Any, existing: dict[str, Any] | None
) -> None:
    step = step_of(template(*patches, base={**base, "apiVersion": "v1", "kind": "X"}))
    there = {"bucket": Existing(existing)} if existing is not None else {}
    with suppress(EngineError):
        patch_and_transform.run_step(
            step, Observed({"apiVersion": "v1", "kind": "XR", "spec": composite}, there), State()
        )


@given(data=_JSON, more=st.dictionaries(st.sampled_from(["name", "base", "patches", "readinessChecks"]), _JSON))
def test_inputs_raise_nothing_but_our_errors(data: Any, more: dict[str, Any]) -> None:
    for given_data in ({"resources": data}, {"resources": [more]}, {"resources": [template()], "patchSets": data}):
        with suppress(ModelError):
            read_step(Document(given_data, "f"), given_data, (), name="s", function="f", warnings=[])
