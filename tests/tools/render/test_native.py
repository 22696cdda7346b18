"""`claimsmith render XR COMPOSITION` with native resources: a Pulumi YAML program among the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.cli.app import app
from tests.support.crossplane_documents import XR, composition, piped, resources, step
from tests.support.native_plans import CONFIG_MAP
from tests.support.samples import write_files

LISTED = [
    {"name": "config", "base": {**CONFIG_MAP, "data": {"x": "of ${pet.id}", "home": "${HOME}"}}},
    {
        "name": "pet",
        "base": {
            "type": "random:RandomPet",
            "properties": {"prefix": "${word.result}-x", "separator": "${config.metadata.name}"},
            "options": {"dependsOn": ["word"], "protect": True},
        },
        "patches": [
            {"fromFieldPath": "spec.region", "toFieldPath": "properties.region"},
            {"type": "ToCompositeFieldPath", "fromFieldPath": "outputs.id", "toFieldPath": "status.pet"},
        ],
    },
    {"name": "word", "base": {"type": "random:index/randomString:RandomString", "properties": {"length": 3}}},
]
OBSERVED = {
    "type": "random:RandomPet",
    "metadata": {"annotations": {"crossplane.io/composition-resource-name": "pet"}},
    "outputs": {"id": "cat"},
}


def rendered(root: Path, monkeypatch: pytest.MonkeyPatch, made: dict[str, Any], *words: str) -> list[Any]:
    files: dict[str, str | bytes] = {
        "xr.yaml": yaml.safe_dump({**XR, "spec": {"region": "${word.result}"}}),
        "composition.yaml": yaml.safe_dump(made),
        "observed.yaml": yaml.safe_dump(OBSERVED),
    }
    monkeypatch.chdir(write_files(root, files))
    result = CliRunner().invoke(app, ["render", "xr.yaml", "composition.yaml", *words])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(composition(resources=LISTED), id="resources"),
        pytest.param(piped(step(**resources(*LISTED))), id="pipeline"),
    ],
)
def test_native_resources_are_one_program(
    made: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    composite, config, program = rendered(tmp_path, monkeypatch, made)
    assert composite["kind"] == "XBucket"
    assert config["data"] == {"x": "of <pet:outputs.id>", "home": "${HOME}"}
    assert program == {
        "resources": {
            "my-pet": {
                "type": "random:index/randomPet:RandomPet",
                "properties": {
                    "prefix": "${my-word.result}-x",
                    "separator": "<config:metadata.name>",
                    "region": "$${word.result}",
                },
                "options": {"dependsOn": ["${my-word}"], "protect": True},
            },
            "my-word": {"type": "random:index/randomString:RandomString", "properties": {"length": 3}},
        }
    }


def test_outputs_of_existing_ones_reach_the_composite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = composition(resources=LISTED)
    composite, *_ = rendered(tmp_path, monkeypatch, made, "--observed", "observed.yaml")
    assert composite["status"]["pet"] == "cat"
