"""A project as an archive: the same bytes for the same files, nothing of this machine, nothing out of its folder."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from claimsmith.base.errors import DeployError, LoadError
from claimsmith.project.project import Project
from claimsmith.tools.fleet import archive
from claimsmith.tools.fleet.archive import Archive
from tests.support.fleet_files import committed, fleet

KUBECONFIG = {"apiVersion": "v1", "kind": "Config", "current-context": "a", "clusters": [], "users": []}
NEVER = {
    ".claimsmith/passphrase": "secret",
    ".claimsmith/state/.pulumi/meta.yaml": "version: 1\n",
    ".venv/pyvenv.cfg": "",
    ".env": "TOKEN=secret",
    "components/__pycache__/a.pyc": "",
    "deep/.claimsmith/passphrase": "secret",
    "passphrase": "secret",
    "cluster.yaml": yaml.safe_dump(KUBECONFIG),
    "certificates/a.pem": "-----BEGIN PRIVATE KEY-----\n",
    "certificates/b.key": "",
}
KEPT = {"certificates/ca.pem": "-----BEGIN CERTIFICATE-----\n", "notes.yaml": "kind: Config\n"}


def names(packed: Archive) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(packed.content)) as files:
        return files.getnames()


def write(root: Path, files: dict[str, str]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)


@pytest.mark.parametrize("repository", [False, True], ids=["a-folder", "a-repository"])
def test_what_is_in_it(tmp_path: Path, repository: bool) -> None:
    project = fleet(tmp_path, ("a", "b"))
    if repository:
        committed(tmp_path)
        write(tmp_path, {".gitignore": ".claimsmith/\nbuild/\nstacks/Pulumi.a.yaml\n", "build/x": ""})
        subprocess.run(["git", "rm", "-q", "--cached", "stacks/Pulumi.a.yaml"], cwd=tmp_path, check=True)
    write(tmp_path, NEVER | KEPT)
    found = names(archive.pack(project))
    assert found == sorted(found)
    assert not {name for name in found if name.startswith((".git/", "build/"))}
    assert not set(found) & NEVER.keys()
    assert {"Pulumi.yaml", "stacks/Pulumi.a.yaml", "stacks/Pulumi.b.yaml", *KEPT} <= set(found)
    assert {"components/plain/component.py", "stacks/a/claims/claim.yaml"} <= set(found)


def test_the_same_files_are_the_same_archive(tmp_path: Path) -> None:
    packed = []
    for name in ("one", "two"):
        project = fleet(tmp_path / name, ("a",))
        path = project.root / "stacks/a/claims/claim.yaml"
        os.utime(path, (1, len(packed)))
        packed.append(archive.pack(Project(project.root)))
    assert packed[0] == packed[1]
    path.write_text(path.read_text() + "\n")
    assert archive.pack(project).digest != packed[1].digest


def test_it_comes_out_as_it_went_in(tmp_path: Path) -> None:
    project = fleet(tmp_path / "here", ("a",))
    write(project.root, {"run.sh": "#!/bin/sh\n"})
    (project.root / "run.sh").chmod(0o755)
    (project.root / "link").symlink_to("run.sh")
    packed = archive.pack(project)
    there = tmp_path / "there"
    there.mkdir()
    archive.unpack(packed, there)
    assert archive.pack(Project(there)) == packed
    assert os.access(there / "run.sh", os.X_OK)


@pytest.mark.parametrize("to", ["/etc/passwd", "../outside"], ids=["absolute", "relative"])
def test_a_link_that_leads_out_is_not_packed(tmp_path: Path, to: str) -> None:
    project = fleet(tmp_path / "here", ("a",))
    (tmp_path / "outside").touch()
    (project.root / "link").symlink_to(to)
    with pytest.raises(LoadError, match="leads out of the project"):
        archive.pack(project)


def hostile(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> Archive:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as files:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        files.addfile(info, io.BytesIO(b""))
    content = output.getvalue()
    return Archive(hashlib.sha256(content).hexdigest(), content)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(hostile("../out"), id="above"),
        pytest.param(hostile("/tmp/out"), id="absolute"),
        pytest.param(hostile("a", tarfile.SYMTYPE, "../../out"), id="a-link-above"),
        pytest.param(hostile("a", tarfile.SYMTYPE, "/etc/passwd"), id="an-absolute-link"),
        pytest.param(hostile("a", tarfile.LNKTYPE, "/etc/passwd"), id="a-hard-link"),
        pytest.param(hostile("a", tarfile.FIFOTYPE), id="a-pipe"),
        pytest.param(hostile("a", tarfile.CHRTYPE), id="a-device"),
        pytest.param(Archive("0" * 64, hostile("a").content), id="another-digest"),
        pytest.param(Archive(hashlib.sha256(b"no").hexdigest(), b"no"), id="no-archive"),
    ],
)
def test_a_hostile_archive_is_refused(tmp_path: Path, broken: Archive) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(DeployError, match="the archive of the project is refused"):
        archive.unpack(broken, folder)
    assert [p for p in tmp_path.rglob("*") if p != folder] == []


def test_a_project_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST", 1000)
    with pytest.raises(LoadError, match=r"let \.gitignore name what is built"):
        archive.pack(fleet(tmp_path, ("a",)))
