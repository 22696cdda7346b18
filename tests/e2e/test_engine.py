"""The engine itself: what it warns of, which provider it runs, and the layouts of state."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from claimsmith import toolchain
from claimsmith.project import workspace
from claimsmith.project.project import Project
from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import Rig

pytestmark = pytest.mark.e2e


@pytest.fixture
def claimed(rig: Rig) -> Rig:
    """A claim that is ready to be deployed."""
    rig.namespace(rig.name)
    rig.write("components/mysql/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    return rig


def test_nothing_is_warned_of_and_the_provider_that_was_found_is_used(claimed: Rig) -> None:
    assert "warning" not in claimed.ok(claimed.pulumi("preview", "--stack", "dev")).text
    assert "$PATH" not in claimed.ok(claimed.up("dev")).text
    found = toolchain.find("pulumi-resource-kubernetes")
    assert found
    state = json.loads(claimed.ok(claimed.pulumi("stack", "export", "--stack", "dev")).out)
    providers = [r for r in state["deployment"]["resources"] if r["type"] == "pulumi:providers:kubernetes"]
    assert {r["inputs"]["version"] for r in providers} == {found.version}


def test_an_engine_without_language_hosts_warns_of_nothing(
    claimed: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As some distributions pack it: `pulumi` alone in a folder on PATH."""
    found = {name: part for name, part in toolchain.find_all().items() if part}
    (tmp_path / "bin").mkdir()
    shutil.copy(found["pulumi"].path, tmp_path / "bin" / "pulumi")
    plugins, plugin = tmp_path / "home" / "plugins", found["pulumi-resource-kubernetes"]
    (plugins / f"resource-kubernetes-v{plugin.version}").mkdir(parents=True)
    (plugins / f"resource-kubernetes-v{plugin.version}" / plugin.name).symlink_to(plugin.path)
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), "/usr/bin", "/bin"]))
    assert toolchain.require("pulumi")["pulumi"] == tmp_path / "bin" / "pulumi"
    ran = claimed.ok(claimed.pulumi("preview", "--stack", "dev"))
    assert "warning" not in ran.text
    assert (plugins / "language-python-v0.0.0" / "pulumi-language-python").exists()


def test_new_state_never_has_the_old_layout(claimed: Rig) -> None:
    claimed.ok(claimed.pulumi("stack", "init", "other", env={"PULUMI_DIY_BACKEND_LEGACY_LAYOUT": "true"}))
    stacks = claimed.root / ".claimsmith/state/.pulumi/stacks"
    assert (stacks / claimed.name / "other.json").exists()
    assert not workspace.is_legacy(claimed.root / ".claimsmith/state")


def test_state_of_the_old_layout_is_refused_and_the_named_way_out_works(claimed: Rig) -> None:
    claimed.ok(claimed.up("dev"))
    before = workspace.export_state(Project(claimed.root), "dev")
    state = claimed.root / ".claimsmith/state/.pulumi"
    shutil.move(state / "stacks" / claimed.name / "dev.json", state / "stacks" / "dev.json")
    shutil.rmtree(state / "stacks" / claimed.name)
    (state / "meta.yaml").unlink()

    refused = claimed.claimsmith("drift", "dev")
    assert refused.code == 1
    assert "has the layout from before stacks belonged to projects" in refused.err
    way_out = refused.err.partition("fix: upgrade it once: ")[2].strip()
    assert way_out.startswith('eval "$(claimsmith env)" && ')
    claimed.ok(claimed.shell(way_out))
    assert workspace.export_state(Project(claimed.root), "dev")["deployment"] == before["deployment"]
    assert claimed.steps("dev") == {}
