from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import ConnectionError_
from claimsmith.compose import connections
from claimsmith.compose.connections import SecretSource
from claimsmith.dialects.common.klass import Detail

A, B = SecretSource("a", "Server", "system", "one"), SecretSource("b", "Cache", "system", "two")


def place(reference: Any) -> SecretSource | None:
    return connections.secret_source("a", {"kind": "Server", "spec": {"writeConnectionSecretToRef": reference}})


@pytest.mark.parametrize(
    ("reference", "want"),
    [
        pytest.param({"namespace": "system", "name": "one"}, A, id="there"),
        pytest.param(None, None, id="null"),
        pytest.param("text", None, id="not-a-mapping"),
    ],
)
def test_secret_source(reference: Any, want: SecretSource | None) -> None:
    assert place(reference) == want


def test_a_child_without_a_spec_writes_no_secret() -> None:
    assert connections.secret_source("a", {"kind": "Server", "spec": None}) is None


@pytest.mark.parametrize(
    ("reference", "missing"),
    [
        pytest.param({"name": "one"}, "namespace", id="no-namespace"),
        pytest.param({"namespace": "system"}, "name", id="no-name"),
        pytest.param({"namespace": 5, "name": "one"}, "namespace", id="namespace-is-a-number"),
        pytest.param({}, "namespace", id="nothing"),
    ],
)
def test_half_a_place_is_refused(reference: dict[str, Any], missing: str) -> None:
    with pytest.raises(ConnectionError_) as caught:
        place(reference)
    [problem] = caught.value.problems
    assert problem.path == f"spec.writeConnectionSecretToRef.{missing}"
    assert problem.fix


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        pytest.param([], {}, id="nothing"),
        pytest.param([(A, {"z": "1", "a": "2"})], {"a": "2", "z": "1"}, id="sorted"),
        pytest.param([(A, {"x": "1"}), (B, {"y": "2"})], {"x": "1", "y": "2"}, id="union"),
    ],
)
def test_unite(parts: list[tuple[SecretSource, dict[str, str]]], want: dict[str, str]) -> None:
    united = connections.unite(parts)
    assert (united, list(united)) == (want, list(want))


def test_one_key_with_two_values_names_both_children_and_no_value() -> None:
    with pytest.raises(ConnectionError_) as caught:
        connections.unite([(A, {"password": "c2VjcmV0LW9uZQ=="}), (B, {"password": "c2VjcmV0LXR3bw=="})])
    [problem] = caught.value.problems
    assert all(word in problem.what for word in ("'password'", " a ", "b"))
    assert problem.fix
    assert "c2Vjc" not in str(problem)


# Details that a child itself tells


TELLING = SecretSource(
    "server",
    "Server",
    "",
    "",
    (),
    own=(Detail("host", "", field_path="status.host"), Detail("driver", "", value="pg")),
)
NESTED = SecretSource("half", "XHalf", "shop", "half", (("host", "host"), ("port", "port")), composed=True)
DRIVER, HOST = "cGc=", "ZGIuZXhhbXBsZS5vcmc="


@pytest.mark.parametrize(
    ("place", "data", "live", "only", "want", "lost"),
    [
        pytest.param(
            TELLING, {}, {"status": {"host": "db.example.org"}}, (), {"driver": DRIVER, "host": HOST}, [], id="told"
        ),
        pytest.param(TELLING, {}, {"status": {}}, (), {"driver": DRIVER}, ["host"], id="absent"),
        pytest.param(TELLING, {}, {"status": {"host": {}}}, (), {"driver": DRIVER, "host": "e30="}, [], id="no-text"),
        pytest.param(TELLING, {}, {"status": "none"}, (), {"driver": DRIVER}, ["host"], id="path-leads-nowhere"),
        pytest.param(TELLING, {}, None, (), {"driver": DRIVER}, ["host"], id="no-child"),
        pytest.param(TELLING, {}, {}, ("driver",), {"driver": DRIVER}, [], id="not-asked-for"),
        pytest.param(NESTED, {"host": HOST}, None, (), {"host": HOST}, ["port"], id="nested-composite-left-it-out"),
        pytest.param(NESTED, {"host": HOST}, None, ("host",), {"host": HOST}, [], id="nested-and-not-asked-for"),
    ],
)
def test_a_detail_whose_field_is_absent_is_left_out(
    place: SecretSource, data: dict[str, str], live: Any, only: tuple[str, ...], want: dict[str, str], lost: list[str]
) -> None:
    assert connections.unite([(place, data)], [live], only=only) == want
    left_out = connections.left_out([(place, data)], [live], only=only)
    assert list(left_out) == lost
    assert all(place.child in problem.what and problem.fix for problem in left_out.values())
