"""A project whose state is shared, with the settings of one stack and a passphrase that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.project.project import Project

SALT = "v1:EKjN5aiUqIY=:v1:fHWxi9WDYMPOXbaF:OJHwaWNOr1edrlhNzOAocT4Ds14Osg=="
"""As the engine (3.259) wrote it for the passphrase `secret words`."""
PASSPHRASE = "secret words"
SETTINGS = f"encryptionsalt: {SALT}\nconfig:\n  shop:size: small\n  shop:password:\n    secure: v1:abc\n"


def shared_project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project, as the current folder."""
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    (root / "stacks").mkdir()
    (root / "Pulumi.yaml").write_text("name: shop\nruntime: python\nbackend:\n  url: file:///shared\n")
    (root / "stacks" / "Pulumi.dev.yaml").write_text(SETTINGS)
    (root / ".gitignore").write_text(".venv\n")
    monkeypatch.chdir(root)
    return Project(root)
