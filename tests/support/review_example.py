"""The example of docs/guides/review.md: a change of the platform and of two claims in this repository's own files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from claimsmith.cli.app import app
from tests.support.paths import ROOT

EDITS = {
    "components/private-mysql-server/class.yaml": ("tier: Basic", "tier: GeneralPurpose"),
    "stacks/dev/claims/sql.yaml": ("storageGB: 10", "storageGB: 20"),
    "stacks/prod/claims/sql.yaml": ("region: us-west", "region: us-east"),
}
WORDS = ("--base", "main", "--stack", "dev", "--stack", "prod")
_KEPT = ("Pulumi.yaml", "components", "stacks/dev", "stacks/prod", "stacks/__main__.py")


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def made_in(root: Path) -> Path:
    """The repository's example platform, committed; then edited, generated and bound. The current folder must be it."""
    for name in _KEPT:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "base")
    for name, (old, new) in EDITS.items():
        text = (root / name).read_text(encoding="utf-8")
        assert old in text
        (root / name).write_text(text.replace(old, new), encoding="utf-8")
    claim = "MySQLInstance.database.example.org/default/sql"
    for words in (["generate"], ["bind", "dev", "--rebind", claim], ["bind", "prod"]):
        ran = CliRunner().invoke(app, words)
        assert ran.exit_code == 0, ran.output
    return root
