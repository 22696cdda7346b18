"""Where nothing says which fields of a kind can be changed, a review says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claimsmith.tools.review import Review
from claimsmith.tools.review.alerts import banner
from tests.support.provider_crds import provider_crd
from tests.support.review_files import CLASS, CRD, KINDS, Files, base, changed, db, put, reviewed, set_file

GROUP = "s3.aws.upbound.io"
BUCKET = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Bucket", "spec": {"forProvider": {"region": "eu"}}}
REGION = "spec/resources/1/base/spec/forProvider/region"
FIXED = {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "region is immutable"}]}


def start(*files: Any) -> Files:
    """A class with a bucket, whose definition is known where it says so."""
    return changed(set_file(CLASS, db(server=BUCKET)), *files, start=base())


def rules(folder: Path, before: Files, path: str = REGION, value: Any = "us") -> dict[str, str]:
    found = reviewed(folder, before, changed(put(CLASS, path, value), start=before))
    return {w.rule: w.what for w in found.warnings}


def test_the_kind_is_named(tmp_path: Path) -> None:
    found = reviewed(tmp_path, start(), changed(put(CLASS, REGION, "us"), start=start()))
    (warning,) = (w for w in found.warnings if w.rule == "replacement-unknown")
    assert warning.what.startswith(f"immutability unknown for Bucket.{GROUP}: ")
    assert "spec.forProvider.region" in warning.what
    assert "claimsmith crds add" in warning.fix
    generated = replace(found, refusals=())
    whole = Review("shop", "main", "0" * 40, (generated,), (), ())
    assert banner(whole) == "Changes: nothing is deleted, and whether something is replaced is unknown"


def known(**fields: Any) -> Any:
    return set_file(CRD, provider_crd("Bucket", GROUP, **fields))


@pytest.mark.parametrize(
    ("files", "want"),
    [
        pytest.param([set_file(KINDS, {"immutable": {f"Bucket.{GROUP}": []}})], set(), id="a-table-without-fields"),
        pytest.param(
            [set_file(KINDS, {"immutable": {f"Bucket.{GROUP}": ["spec.forProvider.region"]}})],
            {"immutable-field"},
            id="a-table-with-the-field",
        ),
        pytest.param([known(region=FIXED)], {"immutable-field"}, id="a-rule-of-the-definition"),
        pytest.param([known()], {"replacement-unknown"}, id="a-definition-that-says-nothing-of-changes"),
    ],
)
def test_what_is_known(tmp_path: Path, files: list[Any], want: set[str]) -> None:
    asked = {"replacement-unknown", "immutable-field"}
    assert asked & set(rules(tmp_path, start(*files))) == want


def test_what_is_only_metadata_or_created_is_no_question(tmp_path: Path) -> None:
    assert "replacement-unknown" not in rules(
        tmp_path / "labels", start(), "spec/resources/1/base/metadata", {"labels": {"a": "b"}}
    )
    found = reviewed(tmp_path / "created", base(), start())
    assert not [w for w in found.warnings if w.rule == "replacement-unknown"]
