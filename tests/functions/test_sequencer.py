"""function-sequencer."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.functions import sequencer
from claimsmith.functions.protocol import Ready, Response
from tests.support.function_calls import call, managed

THREE = dict.fromkeys(("first", "second", "third"), Ready.unspecified)


def run(*rules: Any, desired: Any = THREE, observed: Any = None, **more: Any) -> Response:
    listed = [{"sequence": list(rule)} if isinstance(rule, tuple) else rule for rule in rules]
    data = {"apiVersion": "sequencer.fn.crossplane.io/v1beta1", "kind": "Input", "rules": listed, **more}
    return call(sequencer, "function-sequencer", data, desired=desired, observed=observed, context={"on": True, "n": 1})


@pytest.mark.parametrize(
    ("rules", "desired", "observed", "kept"),
    [
        ([("first", "second", "third")], THREE, (), ["first"]),
        ([("first", "second", "third")], {**THREE, "first": Ready.true}, (), ["first", "second"]),
        ([("first", "second"), ("first", "third")], {**THREE, "first": Ready.true}, (), list(THREE)),
        ([("first", "second")], THREE, ("second",), list(THREE)),
        ([("absent", "second")], THREE, (), ["first", "third"]),
        ([("first|second", "third")], {**THREE, "first": Ready.true}, (), ["first", "second"]),
        ([("first", "^.*d$")], THREE, (), ["first"]),
        ([{"sequence": ["first", "second"], "deleteOnly": True}], THREE, (), list(THREE)),
        ([{"sequence": ["first", "second"], "condition": "false"}], THREE, (), list(THREE)),
        ([{"sequence": ["first", "second"], "condition": "true"}], THREE, (), ["first", "third"]),
        ([{"sequence": ["first", "second"], "condition": "context.on"}], THREE, (), ["first", "third"]),
    ],
    ids=[
        "none ready",
        "one ready",
        "two rules",
        "exists",
        "absent",
        "pattern",
        "own anchors",
        "delete only",
        "no",
        "yes",
        "a field",
    ],
)
def test_creation(rules: list[Any], desired: Any, observed: tuple[str, ...], kept: list[str]) -> None:
    response = run(*rules, desired=desired, observed={name: managed(name) for name in observed})
    assert list(response.desired.resources) == kept


def test_what_it_reports() -> None:
    messages = [r.message for r in run(("first", "second"), ("absent", "third")).results]
    assert messages == [
        'Delaying creation of resource(s) matching "second" because "first" is not fully ready (0 of 1)',
        'Delaying creation of resource(s) matching "third" because "absent" does not exist yet',
    ]


def test_what_it_reports_is_quoted_as_go_quotes_it() -> None:
    skipped = {"sequence": ["first", "second"], "condition": 'observed.composite.resource.kind == "No"'}
    messages = [r.message for r in run(skipped, (r"first-\d", "third")).results]
    assert messages == [
        r'Skipping sequence [first second]: condition "observed.composite.resource.kind == \"No\"" evaluated to false',
        r'Delaying creation of resource(s) matching "third" because "first-\\d" does not exist yet',
    ]


@pytest.mark.parametrize(("reset", "ready"), [(True, Ready.false), (False, Ready.unspecified)])
def test_readiness_of_the_composite(reset: bool, ready: Ready) -> None:
    assert run(("first", "second"), resetCompositeReadiness=reset).desired.composite.ready is ready


@pytest.mark.parametrize(
    ("version", "namespace", "kind", "api_version"),
    [
        ("v1", "", "Usage", "apiextensions.crossplane.io/v1beta1"),
        ("v2", "", "ClusterUsage", "protection.crossplane.io/v1beta1"),
        ("v2", "team", "Usage", "protection.crossplane.io/v1beta1"),
    ],
)
def test_deletion(version: str, namespace: str, kind: str, api_version: str) -> None:
    metadata = {"name": "one", **({"namespace": namespace} if namespace else {})}
    observed = {"first": managed("one", metadata=metadata), "second": managed("two")}
    response = run(
        ("first", "second"), observed=observed, enableDeletionSequencing=True, replayDeletion=True, usageVersion=version
    )
    usage = response.desired.resources["second-first-usage"]
    assert (usage.document["apiVersion"], usage.document["kind"]) == (api_version, kind)
    assert usage.document["metadata"].get("namespace", "") == namespace
    assert usage.document["metadata"]["name"].startswith("thing-two-thing-one-")
    assert usage.document["spec"]["by"]["resourceRef"] == {"name": "two"}
    assert usage.document["spec"]["of"]["resourceRef"] == {"name": "one"}
    assert usage.ready is Ready.true


def test_names_of_usages_fit() -> None:
    observed = {"first": managed("o" * 80), "second": managed("t" * 80)}
    usage = run(("first", "second"), observed=observed, enableDeletionSequencing=True).desired.resources
    assert len(usage["second-first-usage"].document["metadata"]["name"]) <= 63


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ({"sequence": ["a", "("]}, "rules[0].sequence[1]"),
        ({"sequence": ["a"], "createOnly": True, "deleteOnly": True}, "rules[0]"),
        ({"sequence": ["a"], "condition": "observed.composite.resource.spec.absent"}, "rules[0].condition"),
        ({"sequenc": ["a"]}, "rules[0].sequenc"),
    ],
    ids=["pattern", "both", "condition", "unknown"],
)
def test_refused(rule: dict[str, Any], path: str) -> None:
    with pytest.raises(EngineError) as caught:
        run(rule)
    assert caught.value.problems[0].path.endswith(path)
    assert caught.value.problems[0].where


@pytest.mark.parametrize("ttl", ["soon", "5", "1h x"])
def test_a_time_that_cannot_be_read_is_refused(ttl: str) -> None:
    assert run(("first", "second"), cacheTTL="1h2m").results
    with pytest.raises(EngineError) as caught:
        run(("first", "second"), cacheTTL=ttl)
    assert caught.value.problems[0].path.endswith("input.cacheTTL")
