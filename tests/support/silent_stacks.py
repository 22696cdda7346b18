"""A project of four stacks in which nothing is wrong, what may change in it, and the commands that need not plan it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.generate import generate
from claimsmith.tools.review import outputs
from claimsmith.tools.review.project import review
from claimsmith.tools.validate import validate
from tests.support.review_files import committed, git
from tests.support.samples import BUCKET, DEFAULT_CLASS, claim_data, class_data, patch

STACKS = ("a", "b", "both", "plain")
KINDS = {"a": ["Alpha"], "b": ["Beta"], "both": ["Alpha", "Beta"], "plain": ["Beta"]}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Gadget", "plural": "gadgets"},
        "scope": "Cluster",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def klass(name: str, kind: str, region: str = "eu") -> dict[str, Any]:
    base = {**BUCKET, "metadata": {"labels": {"region": region}}}
    resource = {"base": base, "patches": [patch("spec.size", "metadata.labels.size")]}
    return class_data(name, resource, kind=kind, annotations=DEFAULT_CLASS)


def write_project(root: Path, more: dict[str, Any] | None = None) -> Path:
    """The project, committed, with more files where there are some."""
    files: dict[str, Any] = {
        "components/alpha/class.yaml": klass("alpha", "Alpha"),
        "components/beta/class.yaml": klass("beta", "Beta"),
    }
    for stack in STACKS:
        claims = [claim_data(f"{kind.lower()}-{stack}", kind=kind, size="small") for kind in KINDS[stack]]
        files[f"stacks/{stack}/claims/claims.yaml"] = claims
        files[f"stacks/Pulumi.{stack}.yaml"] = {"config": {"claimsmith:labels": {"team": stack}}}
    committed(root, {**files, **(more or {})})
    project = Project(root)
    generate(project, check=False)
    for stack in STACKS:
        bind(project, stack)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "bound")
    return root


class Command:
    """A command that says something of each stack, and which stacks it planned the last time."""

    def __init__(self, name: str, planned: list[str]) -> None:
        self.name = name
        self._planned = planned

    @classmethod
    def noted(cls, name: str, monkeypatch: pytest.MonkeyPatch) -> Command:
        """The command, with the stacks that this process plans noted."""
        stacks: list[str] = []
        planned = Project.planned

        def noted(project: Project, stack: str, *rest: Any, **more: Any) -> Any:
            stacks.append(stack)
            return planned(project, stack, *rest, **more)

        monkeypatch.setattr(Project, "planned", noted)
        return cls(name, stacks)

    def __call__(self, root: Path, **more: Any) -> str:
        """All that it says; with `cache` it need not plan what is silent."""
        self._planned.clear()
        return self._SAYS[self.name](root, **more)

    @property
    def planned(self) -> list[str]:
        """The stacks that were planned, in their order."""
        return list(dict.fromkeys(self._planned))

    @staticmethod
    def _review(root: Path, **more: Any) -> str:
        found = review(Project(root), "HEAD", **more)
        return "".join(outputs.WRITERS[form](found) for form in ("json", "markdown"))

    @staticmethod
    def _validate(root: Path, **more: Any) -> str:
        found = validate(Project(root), Project(root).stacks(), **more)
        return yaml.safe_dump([found.summary, found.to_dict()])

    _SAYS: ClassVar[dict[str, Callable[..., str]]] = {"review": _review, "validate": _validate}


def edited(path: Path, change: Callable[[Any], None]) -> None:
    """Change the first document of a file."""
    documents = list(yaml.safe_load_all(path.read_text()))
    change(documents[0])
    path.write_text(yaml.safe_dump_all(documents))


# Each changes a project that others may have changed already.
def _claim(root: Path, chance: random.Random) -> None:
    stack = chance.choice(STACKS)
    kind = chance.choice(["Alpha", "Beta", "Gamma"])
    data = claim_data(f"more-{chance.randrange(3)}", kind=kind, size=chance.choice(["small", "large"]))
    path = root / f"stacks/{stack}/claims/more-{chance.randrange(2)}.yaml"
    path.write_text(yaml.safe_dump(data))


def _escaped(root: Path, chance: random.Random) -> None:
    text = yaml.safe_dump(claim_data("escaped", kind="KIND", size="small"))
    path = root / f"stacks/{chance.choice(STACKS)}/claims/escaped.yaml"
    path.write_text(text.replace("KIND", chance.choice(['"\\x41lpha"', "!!binary QWxwaGE="])))


def _class(root: Path, chance: random.Random) -> None:
    name = chance.choice(["alpha", "beta"])
    region = chance.choice(["eu", "us"])
    path = root / f"components/{name}/class.yaml"
    path.write_text(yaml.safe_dump(klass(name, name.title(), region)))


def _another_class(root: Path, chance: random.Random) -> None:
    name, kind = chance.choice(["alpha", "gamma", "zeta"]), chance.choice(["Alpha", "Beta", "Gamma"])
    path = root / f"components/more-{chance.randrange(2)}/class.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(klass(name, kind)))


def _definition(root: Path, chance: random.Random) -> None:
    (root / f"components/{chance.choice(['alpha', 'crds'])}").mkdir(exist_ok=True)
    folder = chance.choice([p for p in (root / "components").iterdir() if p.is_dir()])
    (folder / "crd.yaml").write_text(yaml.safe_dump(CRD))


def _table(root: Path, chance: random.Random) -> None:
    kind = {"kind": "Bucket", "group": chance.choice(["one", "two"])}
    name = chance.choice(["references.yaml", "review.yaml"])
    (root / "components" / name).write_text(chance.choice(["", yaml.safe_dump(kind)]))


def _setting(root: Path, chance: random.Random) -> None:
    path = root / f"stacks/Pulumi.{chance.choice(STACKS)}.yaml"
    name = chance.choice(["strict", "records", "bind", "context"])
    path.write_text(yaml.safe_dump({"config": {f"claimsmith:{name}": chance.choice(["true", "auto"])}}))


def _ignored(root: Path, chance: random.Random) -> None:
    (root / ".gitignore").write_text(f"stacks/Pulumi.{chance.choice(STACKS)}.yaml\n")
    git(root, "rm", "--quiet", "--cached", "--ignore-unmatch", "stacks/Pulumi.a.yaml")


def _permissions(root: Path, chance: random.Random) -> None:
    edited(root / "claimsmith.yaml", lambda d: d.update(claims=[{"folder": ".", "namespaces": [chance.choice("*x")]}]))


def _annotation(root: Path, chance: random.Random) -> None:
    note = chance.choice(["crossplane.io/external-name", "claimsmith.io/protect", "claimsmith.io/adopt"])
    path = root / f"stacks/{chance.choice(STACKS)}/claims/claims.yaml"
    if path.is_file():
        edited(path, lambda d: d["metadata"].update(annotations={note: chance.choice(["true", "same"])}))


def _bindings(root: Path, chance: random.Random) -> None:
    (root / f"stacks/{chance.choice(STACKS)}/bindings.yaml").unlink(missing_ok=True)


def _broken(root: Path, chance: random.Random) -> None:
    folder = root / chance.choice(["components/beta", f"stacks/{chance.choice(STACKS)}/claims"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "broken.yaml"
    path.write_text(chance.choice(["", "kind: [", "# nothing\n"]))


def _link(root: Path, chance: random.Random) -> None:
    link = root / f"stacks/{chance.choice(STACKS)}/claims/linked.yaml"
    (root / "shared.yaml").write_text(yaml.safe_dump(claim_data("linked", kind="Alpha", size=str(chance.random()))))
    if link.parent.is_dir() and not link.is_symlink():
        link.symlink_to("../../../shared.yaml")


def _folder(root: Path, chance: random.Random) -> None:
    """A folder in the place of a file."""
    stack = chance.choice(STACKS)
    paths = (f"stacks/{stack}/bindings.yaml", f"stacks/{stack}/claims/claims.yaml", f"stacks/Pulumi.{stack}.yaml")
    path = root / chance.choice([*paths, "components/beta/class.yaml", "claimsmith.yaml", "functions.yaml"])
    if path.parent.is_dir() and not path.is_dir():
        path.unlink(missing_ok=True)
        path.mkdir()


def undone(root: Path, _: random.Random) -> None:
    git(root, "checkout", "--quiet", "--force", "HEAD", ".")
    git(root, "clean", "--quiet", "-d", "--force")


CHANGES: Sequence[Callable[[Path, random.Random], None]] = (
    *(_claim, _escaped, _class, _another_class, _definition, _table, _setting, _ignored, _permissions, _annotation),
    *(_bindings, _broken, _link, _folder, undone, undone, undone),
)
