"""`claimsmith.edge`, the old name of `claimsmith.deploy`: it works, and says the new one."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith import deploy, edge
from claimsmith.base.absent import ABSENT


@pytest.mark.parametrize("name", deploy.__all__)
def test_every_name_is_still_there(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"claimsmith\.edge\.{name} is deprecated: import {name} from"):
        assert getattr(edge, name) is getattr(deploy, name)


@pytest.mark.parametrize(("old", "renamed"), deploy.RENAMED.items())
def test_renamed_names_say_the_new_one(old: str, renamed: tuple[str, Any]) -> None:
    new, value = renamed
    assert new in deploy.__all__
    assert old not in deploy.__all__
    with pytest.warns(DeprecationWarning, match=rf"claimsmith\.deploy\.{old} is deprecated: use {new} "):
        assert getattr(deploy, old) is value
    with pytest.warns(DeprecationWarning, match=rf"claimsmith\.edge\.{old} is deprecated: import {new} from"):
        assert getattr(edge, old) is value


def test_renamed_names_are_what_they_were() -> None:
    assert {old: value for old, (_, value) in deploy.RENAMED.items()} == {
        "ABSENT": ABSENT,
        "Composition": deploy.CrossplaneComposite,
        "Managed": deploy.KubernetesObject,
        "first": deploy.default,
        "read": deploy.field,
    }


def test_the_program_is_still_there() -> None:
    from claimsmith.deploy import program

    with pytest.warns(DeprecationWarning, match="import program from claimsmith.deploy"):
        assert edge.program is program


def test_nothing_else_is_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'component'"):
        _ = edge.component
