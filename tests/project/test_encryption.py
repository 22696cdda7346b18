"""Which passphrase fits a stack: as the engine decides it, before the engine starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimsmith.base.errors import EngineError
from claimsmith.project import encryption
from claimsmith.project.layout import Layout

SALT = "v1:EKjN5aiUqIY=:v1:fHWxi9WDYMPOXbaF:OJHwaWNOr1edrlhNzOAocT4Ds14Osg=="
"""As the engine (3.259) wrote it for the passphrase `secret words`."""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / ".claimsmith").mkdir()
    return Layout(tmp_path)


def settings(layout: Layout, stack: str, text: str) -> None:
    (layout.root / "stacks" / f"Pulumi.{stack}.yaml").write_text(text)


def test_a_block_is_encrypted_as_the_standard_shows() -> None:
    """FIPS 197, appendix C.3."""
    key, block = bytes(range(32)), bytes.fromhex("00112233445566778899aabbccddeeff")
    assert encryption.aes_256_block(key, block).hex() == "8ea2b7ca516745bfeafc49904b496089"


@pytest.mark.parametrize(
    ("passphrase", "salt", "want"),
    [
        pytest.param("secret words", SALT, True, id="the-one"),
        pytest.param("secret word", SALT, False, id="another"),
        pytest.param("", SALT, False, id="none"),
        pytest.param("secret words", "v2:unknown", True, id="a-form-that-is-not-known"),
        pytest.param("secret words", "v1:??:v1:??:??", True, id="not-base64"),
    ],
)
def test_what_fits(passphrase: str, salt: str, want: bool) -> None:
    assert encryption.fits(passphrase, salt) == want


@pytest.mark.parametrize(
    ("env", "own"),
    [
        pytest.param({}, "secret words\n", id="the-projects-own"),
        pytest.param({"PULUMI_CONFIG_PASSPHRASE": "secret words"}, "other", id="variable"),
        pytest.param({"PULUMI_CONFIG_PASSPHRASE_FILE": "FILE"}, "other", id="file"),
    ],
)
def test_stacks_that_fit(layout: Layout, tmp_path: Path, env: dict[str, str], own: str) -> None:
    settings(layout, "dev", f"encryptionsalt: {SALT}\n")
    settings(layout, "cloud", "secretsprovider: awskms://alias/x\nencryptedkey: abc\n")
    settings(layout, "plain", "config: {}\n")
    (layout.private / "passphrase").write_text(own)
    (tmp_path / "elsewhere").write_text("secret words\n")
    env = {name: str(tmp_path / "elsewhere") if value == "FILE" else value for name, value in env.items()}
    assert encryption.unfit(layout, env) == []
    found = {s.stack: (bool(s.salt), s.provider) for s in encryption.stack_secrets(layout)}
    assert found == {"dev": (True, ""), "cloud": (False, "awskms://alias/x"), "plain": (False, "")}


@pytest.mark.parametrize(
    ("env", "own"),
    [
        pytest.param({}, None, id="a-fresh-clone"),
        pytest.param({}, "other", id="another-one"),
        pytest.param({"PULUMI_CONFIG_PASSPHRASE": "other"}, "secret words", id="variable"),
        pytest.param({"PULUMI_CONFIG_PASSPHRASE_FILE": "nowhere"}, "secret words", id="a-file-that-is-missing"),
    ],
)
def test_stacks_that_do_not_fit(layout: Layout, env: dict[str, str], own: str | None) -> None:
    settings(layout, "dev", f"encryptionsalt: {SALT}\n")
    if own is not None:
        (layout.private / "passphrase").write_text(own)
    [problem] = encryption.unfit(layout, env)
    assert str(problem).startswith("stacks/Pulumi.dev.yaml:1:1: ")
    assert encryption.JOIN in problem.fix
    assert encryption.LOCAL in problem.fix


def test_what_fitted_is_not_derived_again(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(layout, "dev", f"encryptionsalt: {SALT}\n")
    (layout.private / "passphrase").write_text("secret words")
    assert encryption.unfit(layout, {}) == []
    monkeypatch.setattr(encryption, "fits", lambda *_: pytest.fail("derived again"))
    assert encryption.unfit(layout, {}) == []


def test_what_does_not_fit_any_more_is_found(layout: Layout) -> None:
    settings(layout, "dev", f"encryptionsalt: {SALT}\n")
    (layout.private / "passphrase").write_text("secret words")
    assert encryption.unfit(layout, {}) == []
    (layout.private / "passphrase").write_text("other")
    assert len(encryption.unfit(layout, {})) == 1


def test_broken_settings_are_not_quoted(layout: Layout) -> None:
    settings(layout, "dev", "config:\n  secret: [hidden\n")
    with pytest.raises(EngineError) as caught:
        encryption.stack_secrets(layout)
    assert "hidden" not in str(caught.value.problems[0])
