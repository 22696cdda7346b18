"""`claimsmith status`: children of both sorts, and where the connection details are."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.names import ClaimKey
from claimsmith.tools.status import ClaimStatus

KEY = ClaimKey.parse("Store.storage.example.org/default/files")
BUCKET = {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "name": "files-x"}
ROLE = {"type": "postgresql:index/role:Role", "name": "default-files-role"}
SECRET = {"namespace": "default", "name": "s", "keys": ["a", "b"]}


@pytest.mark.parametrize(
    ("details", "want"),
    [
        pytest.param({"connectionSecret": SECRET}, "default/s: a, b", id="a-secret"),
        pytest.param({"connectionSecret": None, "connectionKeys": ["a"]}, "stack output: a", id="the-stacks-output"),
        pytest.param({"connectionSecret": SECRET, "connectionKeys": ["a", "b"]}, "default/s: a, b", id="both"),
        pytest.param({"connectionSecret": None, "connectionKeys": []}, "none asked for", id="none"),
        pytest.param({}, "none asked for", id="of-an-application"),
    ],
)
def test_where_the_details_are(details: dict[str, Any], want: str) -> None:
    assert ClaimStatus(KEY, {"resources": [], **details}).secret == want


def test_children_of_both_sorts() -> None:
    inner = {**BUCKET, "kind": "Composite", "resources": [ROLE]}
    status = ClaimStatus(KEY, {"resources": [BUCKET, ROLE, inner]})
    assert status.children == [
        (1, "Bucket", "files-x"),
        (1, "Role", "default-files-role"),
        (1, "Composite", "files-x"),
        (2, "Role", "default-files-role"),
    ]
