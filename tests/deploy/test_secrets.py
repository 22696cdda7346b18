"""The data of a claim's Secret: hidden, unless an update has none."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from claimsmith.deploy.secrets import secret_once_known
from tests.support.mocked import Recorder


@pytest.mark.parametrize(
    ("preview", "known", "secret"),
    [
        pytest.param(False, True, True, id="update"),
        # As a secret, the engine would refuse it and end the run.
        pytest.param(False, False, False, id="update-of-a-failed-child"),
        pytest.param(True, True, True, id="preview"),
        pytest.param(True, False, True, id="preview-of-a-new-child"),
    ],
)
def test_data_is_secret_unless_an_update_has_none(preview: bool, known: bool, secret: bool) -> None:
    mocks.set_mocks(Recorder(), preview=preview)
    found: list[Any] = []

    async def resolved(value: Any) -> Any:
        return value

    async def look() -> None:
        value = {"key": "dmFsdWU="} if known else None
        output = pulumi.Output(set(), resolved(value), resolved(known), resolved(True))
        data = secret_once_known(output)
        found.extend(await asyncio.gather(data.is_known(), data.is_secret()))

    pulumi.runtime.test(look)()
    assert found == [known, secret]
