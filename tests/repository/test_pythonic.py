"""What happens to the tests of function-pythonic where its package is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import pythonic


@pytest.mark.parametrize(
    ("ci", "outcome"),
    [
        pytest.param("", pytest.skip.Exception, id="skipped"),
        pytest.param("true", pytest.fail.Exception, id="failed-in-ci"),
    ],
)
def test_without_the_package(
    ci: str, outcome: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pythonic, "PROGRAM", tmp_path / "absent")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="run `make pythonic`"):
        pythonic.require("function-pythonic")
