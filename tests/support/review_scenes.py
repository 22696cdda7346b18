"""Changes of every size, reviewed in two environments: for the pages and comments that a reader gets."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from claimsmith.project.project import Project
from claimsmith.tools.review.changes import Review
from claimsmith.tools.review.project import code_changes
from claimsmith.tools.review.stack import review_stack
from tests.support.review_files import CLASS, OTHER, Files, base, db, put, sql, write

STACKS = ("dev", "prod")
_SERVER = "spec/resources/1/base/spec/forProvider"
POLICY = {"Version": "1", "Statement": [{"Effect": "Allow", "Action": f"s3:Get{i}"} for i in range(20)]}


def _claim(stack: str, number: int) -> str:
    return f"stacks/{stack}/claims/{number}.yaml"


def _files(count: int) -> Files:
    """A platform with two environments, and this many claims in each."""
    files = {CLASS: db(), OTHER: db("other")}
    files[CLASS]["spec"]["resources"][1]["base"]["spec"]["forProvider"] |= {
        "location": "West US",
        "policy": json.dumps(POLICY),
        "startup": "set -e\n" + "\n".join(f"echo step {i}" for i in range(40)),
    }
    for stack in STACKS:
        files |= {_claim(stack, i): sql(f"sql{i}") for i in range(count)}
        files[f"stacks/Pulumi.{stack}.yaml"] = base()["stacks/Pulumi.dev.yaml"]
    return files


def _one(files: Files) -> None:
    put(_claim("dev", 0), "spec/size", 20)(files)


def _thirty(files: Files) -> None:
    """Sizes of all claims, a field that nobody reads in each, and texts of the class."""
    for i in range(30):
        put(_claim("dev", i), "spec/size", 20 + i % 5)(files)
        put(_claim("dev", i), "spec/versoin", "5.7")(files)
    policy = copy.deepcopy(POLICY)
    policy["Statement"][11]["Effect"] = "Deny"  # type: ignore[index]
    put(CLASS, f"{_SERVER}/policy", json.dumps(policy))(files)
    startup = files[CLASS]["spec"]["resources"][1]["base"]["spec"]["forProvider"]["startup"]
    put(CLASS, f"{_SERVER}/startup", startup.replace("step 30", "step thirty"))(files)
    put(CLASS, "spec/resources/0/base/spec/location", "East US")(files)


def _all(files: Files) -> None:
    """A field of the class that cannot be changed, and one that can in each claim."""
    put(CLASS, f"{_SERVER}/location", "East US")(files)
    for i in range(0, 300, 2):
        put(_claim("dev", i), "spec/size", 20 + i)(files)


def _deletions(files: Files) -> None:
    for i in range(25):
        del files[_claim("dev", i)]
    del files[_claim("prod", 3)]
    del files[CLASS]["spec"]["resources"][1]


def _renamed(files: Files) -> None:
    """The class gets another name, and its claims ask for that; one resource gets another version."""
    files[CLASS]["metadata"]["name"] = "database"
    for stack in STACKS:
        for i in range(30):
            put(_claim(stack, i), "spec/classRef/name", "database")(files)
    put(CLASS, "spec/resources/0/base/apiVersion", "azure.crossplane.io/v1beta1")(files)


SCENES: Mapping[str, tuple[int, Callable[[Files], None]]] = {
    "one": (3, _one),
    "thirty": (30, _thirty),
    "three-hundred": (300, _all),
    "deletions": (30, _deletions),
    "renamed-class": (30, _renamed),
}
"""How many claims there are, and what changes."""


def scene(name: str, folder: Path, **more: Any) -> Review:
    """The review of a change."""
    count, change = SCENES[name]
    before = _files(count)
    after = copy.deepcopy(before)
    change(after)
    old, new = (Project(write(folder / side, files)) for side, files in (("before", before), ("after", after)))
    stacks = tuple(review_stack(old, new, stack) for stack in STACKS)
    lines = "\n".join(f"line_{i} = {i}" for i in range(200))
    code = code_changes(
        {"components/db/component.py": lines}, {"components/db/component.py": lines.replace("4 ", "5 ")}
    )
    return Review("shop", "main", "0123456789abcdef", stacks, code, **more)
