"""Classes with native children, as data; and programs with them on Pulumi's mocks."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime import mocks

from tests.support.mocked import Monitor, Recorder, Registered

SECRET = "planted-9b1c"
"""What every password of these mocks is: to be searched for where none may be."""


@dataclass
class Providers(Recorder):
    """Providers that answer as real ones do: a password is computed, and unknown in a preview."""

    preview: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of what is read or imported, by name."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.resource_id:
            self.ids[args.name] = args.resource_id
        computed = {"result": SECRET} if args.typ.endswith(":RandomPassword") and not self.preview else {}
        return ("" if self.preview else f"{args.name}-id"), {**args.inputs, **computed}


def run(
    build: Callable[[], Any], *, preview: bool = False, config: dict[str, str] | None = None, secret: str = ""
) -> list[Registered]:
    """What a program with native children registers; `secret` is a key of its config that is a secret."""
    recorder = Providers(preview=preview)
    mocks.set_mocks(recorder, project="golden", stack="dev", preview=preview, monitor=Monitor(recorder))
    pulumi.runtime.config.set_all_config(config or {}, [secret] if secret else [])
    try:
        pulumi.runtime.test(build)()
    except BaseException:
        # What is left of a failed run complains when it is collected, and that must not be in the middle of a parse.
        gc.collect()
        raise
    finally:
        pulumi.runtime.config.set_all_config({})
    return recorder.resources
