"""The providers of native resources that a stack's config names, as Pulumi resources of their own SDKs.

Each value that the stack keeps as a secret stays one; the version of a provider is that of its SDK.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, get_args

import pulumi
from pulumi.runtime import config as runtime_config

from claimsmith.base.errors import Collector, DeployError, ModelError, Problem, suggest
from claimsmith.project.named_providers import CONFIG_KEY, NamedProvider, in_plain_text, read_providers


def configured(root: Path, stack: str) -> dict[str, NamedProvider]:
    """The providers of the stack's config as the engine has it, with its secrets as secret Outputs."""
    text = runtime_config.get_config(CONFIG_KEY)
    if text is None:
        return {}
    providers = read_providers(_value(text))
    if not runtime_config.is_config_secret(CONFIG_KEY):
        return providers
    # The engine only reports that a part of the setting is a secret; the files show which parts are none.
    shown = in_plain_text(root, stack)
    return {
        name: NamedProvider(name, p.package, _with_secrets(p.config, shown.get(name, {})), p.where)
        for name, p in providers.items()
    }


def _value(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _with_secrets(config: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value if key in shown and str(shown[key]) == str(value) else pulumi.Output.secret(value)
        for key, value in config.items()
    }


def registered(providers: Mapping[str, NamedProvider], used: Collection[str]) -> dict[str, pulumi.ProviderResource]:
    """The providers as resources. Those that nothing uses now may still delete what was created with them.

    One of them whose SDK is missing is left out, with a warning.
    """
    problems = Collector()
    resources: dict[str, pulumi.ProviderResource] = {}
    for name, provider in providers.items():
        try:
            module = _sdk(provider)
        except DeployError as error:
            if name in used:
                problems.problems.extend(error.problems)
            else:
                pulumi.log.warn(str(error))
            continue
        with problems.catch():
            resources[name] = module.Provider(name, **_arguments(provider, module.ProviderArgs))
    problems.raise_as(DeployError)
    return resources


def _sdk(provider: NamedProvider) -> Any:
    """The provider's SDK for Python."""
    name = f"pulumi_{provider.package.replace('-', '_')}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        what = f"the provider {provider.name!r} is of the package {provider.package!r}, whose SDK is not installed"
        fix = f"install it, and add it to the project's requirements: pip install pulumi-{provider.package}"
        raise DeployError(Problem(what, provider.where, fix=fix)) from None
    if not hasattr(module, "Provider") or not hasattr(module, "ProviderArgs"):
        what = f"the provider {provider.name!r} is of {provider.package!r}, whose SDK {name} has no providers"
        raise DeployError(Problem(what, provider.where, fix="name the package of a Pulumi provider"))
    return module


def _arguments(provider: NamedProvider, arguments: type[Any]) -> dict[str, Any]:
    """The provider's config as arguments of its SDK; what the SDK does not know is refused, without its value."""
    parameters = inspect.signature(arguments.__init__).parameters
    names = {_pulumi_name(arguments, python): python for python in parameters if not python.startswith("__")}
    found: dict[str, Any] = {}
    problems = []
    for key, value in provider.config.items():
        # Config keys of a package are written with its name too: postgresql:host.
        name = key.removeprefix(f"{provider.package}:")
        if name not in names:
            what = f"the provider {provider.name!r} of {provider.package!r} has no setting {key!r}"
            path = f"{CONFIG_KEY}.{provider.name}.config.{key}"
            problems.append(Problem(what, provider.where, path, suggest(name, sorted(names))))
            continue
        found[names[name]] = _typed(value, get_args(parameters[names[name]].annotation))
    if problems:
        raise ModelError(*problems)
    return found


def _pulumi_name(arguments: type[Any], python: str) -> str:
    getter = getattr(vars(arguments).get(python), "fget", None)
    return str(getattr(getter, "_pulumi_name", python))


def _typed(value: Any, types: tuple[Any, ...]) -> Any:
    """The value as the SDK takes it: `pulumi config set` turns texts that look like numbers into numbers."""
    if isinstance(value, pulumi.Output):
        return value.apply(lambda plain: _typed(plain, types))
    if isinstance(value, bool):
        return value if bool in types or str not in types else str(value).lower()
    if isinstance(value, int | float):
        return value if str not in types else str(value)
    if isinstance(value, str) and str not in types:
        return _from_text(value, types)
    return value


def _from_text(value: str, types: tuple[Any, ...]) -> Any:
    if bool in types and value in ("true", "false"):
        return value == "true"
    return int(value) if int in types and value.isdecimal() else value
