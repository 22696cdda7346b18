"""What a template alone decides is worked out once, and anew for a template that is derived from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claimsmith.base.names import GroupKind
from claimsmith.base.values import Interpolation, SiblingOutput
from claimsmith.dialects.common.klass import Template

OBJECT = {"apiVersion": "aws.example.org/v1", "kind": "Bucket", "spec": {"region": "eu"}}
NATIVE = {"type": "aws:s3/bucket:Bucket", "properties": {}}
TEXT = Interpolation((SiblingOutput("role", ("name",)),))


@pytest.mark.parametrize(
    ("base", "native", "kind", "interpolated"),
    [
        pytest.param(OBJECT, False, GroupKind("aws.example.org", "Bucket"), False, id="object"),
        pytest.param(NATIVE, True, GroupKind("aws:s3", "Bucket"), False, id="native"),
        pytest.param(
            {**OBJECT, "spec": {"roles": [TEXT]}},
            False,
            GroupKind("aws.example.org", "Bucket"),
            True,
            id="interpolated",
        ),
        pytest.param({}, False, GroupKind("", ""), False, id="no-base"),
    ],
)
def test_what_a_base_decides(base: dict[str, Any], native: bool, kind: GroupKind, interpolated: bool) -> None:
    other = Template("other", {"type": "x:y:Z", "properties": {"a": TEXT}} if not native else OBJECT)
    assert other.native is not native
    assert other.is_interpolated is not native
    for template in (Template("bucket", base), replace(other, base=base)):
        assert (template.native, template.group_kind, template.is_interpolated) == (native, kind, interpolated)
