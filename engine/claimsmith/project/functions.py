"""The functions of a project: programs and addresses that `functions.yaml` declares, and folders below `functions/`.

`functions.yaml` is the file that `crossplane render` takes. A function that is built in runs built in, whatever runtime
the file names for it, unless it is declared with `claimsmith.io/function-binary` or `claimsmith.io/function-address`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from claimsmith.base.documents import Document
from claimsmith.base.errors import ComposeError, LoadError, Problem
from claimsmith.base.names import GroupKind, group_of
from claimsmith.base.regexp import matches
from claimsmith.base.values import object_at
from claimsmith.dialects.crossplane.composition import FUNCTIONS, function_of
from claimsmith.functions import registry
from claimsmith.functions.protocol import Function
from claimsmith.functions.registry import Bind, Place
from claimsmith.project.load import leads_out, load, read_text

if TYPE_CHECKING:
    from claimsmith.functions import grpc_caller, kcl
    from claimsmith.platform.settings import FunctionSettings

# The modules of functions are imported once a step needs one: most compositions need none of them.

FILE: Final = "functions.yaml"
FOLDER: Final = "functions"
TRUST: Final = "CLAIMSMITH_FUNCTIONS"
"""The environment variable that permits programs of the project to commands that do not deploy: its value is `run`."""
MODULES: Final = "modules"
"""The folder below `functions/` with the KCL modules that programs in compositions import."""
SETTINGS: Final = "claimsmith.yaml"
KIND: Final = GroupKind("pkg.crossplane.io", "Function")
_MODULE_FILE: Final = "kcl.mod"
_KCL: Final = "main.k"
_PYTHON: Final = "main.py"
_TEMPLATE: Final = ".gotmpl"
_MARKS: Final = (SETTINGS, "Pulumi.yaml", "upbound.yaml", FILE, FOLDER)
_BINARY: Final = "claimsmith.io/function-binary"
_ARGUMENTS: Final = "claimsmith.io/function-arguments"
_ADDRESS: Final = "claimsmith.io/function-address"
_RUNTIME: Final = "render.crossplane.io/runtime"
_TARGET: Final = "render.crossplane.io/runtime-development-target"
_DEFAULT_TARGET: Final = "localhost:9443"
_SCRIPTS: Final = ("function-shell", "function-python", "function-pythonic")
_SCRIPT_GROUPS: Final = ("shell.fn.crossplane.io", "python.fn.crossplane.io", "pythonic.fn.crossplane.io")
"""Functions that run code of the composition with the rights of the user, and the groups of their inputs."""


@dataclass(frozen=True, slots=True)
class Declared(Mapping[str, Bind]):
    """Functions by their names. A folder also serves the longer names that Upbound's tools give to its function."""

    exact: Mapping[str, Bind]
    folders: Mapping[str, Bind]
    confined: frozenset[str] = frozenset()
    """The folders whose code can do no harm: the kernel confines it."""
    seconds: float | None = None
    """What one call of a function outside of this process may take; None for the limit of its engine."""

    def __getitem__(self, name: str) -> Bind:
        if name in self.exact:
            return self.exact[name]
        # A longer name of a built-in function is not that of a folder.
        built_in = any(name.endswith(function) for function in FUNCTIONS)
        fitting = [folder for folder in self.folders if name.endswith(folder) and not built_in]
        if not fitting:
            raise KeyError(name)
        return self.folders[max(fitting, key=len)]

    def __iter__(self) -> Iterator[str]:
        yield from (*self.exact, *self.folders)

    def __len__(self) -> int:
        return len(self.exact) + len(self.folders)


def root_of(path: Path) -> Path:
    """The folder of the project that a file is in: the nearest one with a file of projects, else the file's own."""
    start = path.resolve().parent
    return next((p for p in (start, *start.parents) if any((p / name).exists() for name in _MARKS)), start)


def beside(path: Path, listed: Path | None = None) -> Declared:
    """The functions for a composition's file: those of its project, and of a file that lists functions."""
    root = root_of(path)
    listed = listed or (root / FILE if (root / FILE).is_file() else None)
    documents = load([listed], root=Path.cwd()) if listed else []
    return declared(root, _settings(root), documents, listed.resolve().parent if listed else root)


def _settings(root: Path) -> FunctionSettings | None:
    """What a project permits its functions; None where it has no settings."""
    if not (root / SETTINGS).exists():
        return None
    from claimsmith.platform.settings import read
    from claimsmith.project.settings import platform_settings

    return read(platform_settings(root)).functions


def of_project(root: Path, settings: FunctionSettings, *, programs: bool) -> Declared:
    """The functions of a project. Without `programs`, those that run code of the project are refused."""
    listed = root / FILE
    documents = load([listed], root=root) if listed.is_file() else []
    found = declared(root, settings, documents)
    return found if programs or os.environ.get(TRUST) == "run" else _harmless(found)


def programs_of(root: Path) -> list[PurePath]:
    """The programs below a project that run its functions, by their paths there."""
    listed, settings = root / FILE, _settings(root)
    documents = load([listed], root=root) if listed.is_file() else []
    annotated = (object_at(object_at(d.data, "metadata"), "annotations").get(_BINARY) for d in documents)
    named = [*annotated, settings.interpreter if settings else ""]
    found = [PurePath(str(name)) for name in named if name]
    return [path for path in found if not path.is_absolute() and not str(path).startswith("~")]


def stop() -> None:
    """End the processes of all functions that ran; one that is called again starts anew."""
    for name in ("grpc_caller", "worker"):
        # A module that is not imported started nothing.
        if module := sys.modules.get(f"claimsmith.functions.{name}"):
            module.stop_all()


def _harmless(found: Declared) -> Declared:
    """The functions without those that run code which is not confined."""
    exact = {name: bind if name == "function-kcl" else _distrusted for name, bind in found.exact.items()}
    folders = {name: bind if name in found.confined else _distrusted for name, bind in found.folders.items()}
    return replace(found, exact=exact, folders=folders)


def _distrusted(place: Place) -> Function:
    what = f"the function {place.step.function!r} runs a program of the project, which only a deployment does"
    fix = f"set {TRUST}=run, if you trust the files of the project"
    raise ComposeError(place.document.problem(what, place.step.at.removesuffix(".input"), fix))


def declared(
    root: Path,
    settings: FunctionSettings | None,
    documents: Iterable[Document] = (),
    folder_of_list: Path | None = None,
) -> Declared:
    """The functions of a project: its folders, the documents of its functions.yaml, and what its settings permit."""
    folder = root / FOLDER
    exact: dict[str, Bind] = {
        "function-kcl": lambda place: _in_composition(folder, root)(place),
        "function-python": _permitted(settings, lambda place: _code("", root, settings)(place)),
    }
    for document in documents:
        name, place = _served(document, folder_of_list or root)
        if place:
            from claimsmith.functions import grpc_caller

            served = _permitted(settings, grpc_caller.of_function(name, place))
            chosen = any(
                key in object_at(object_at(document.data, "metadata"), "annotations") for key in (_BINARY, _ADDRESS)
            )
            exact[name] = served if chosen else _unless_built_in(served, dict(exact))
    found = _folders(folder, root)
    embedded = {path.name: _embedded(path, root, settings) for path in found}
    confined = frozenset(path.name for path in found if not (path / _PYTHON).is_file() or (path / _KCL).is_file())
    return Declared(exact, embedded, confined, settings.seconds if settings else None)


def _unless_built_in(served: Bind, exact: Mapping[str, Bind]) -> Bind:
    """The function at its address, but for steps whose input belongs to a built-in one, whatever it is called here."""

    def bound(place: Place) -> Function:
        known = function_of(place.step.function, place.step.input)
        return (
            registry.function_for(replace(place, step=replace(place.step, function=known)), exact)
            if known
            else served(place)
        )

    return bound


def _permitted(settings: FunctionSettings | None, bind: Bind) -> Bind:
    """The function; one that runs scripts only where the settings permit it."""

    def bound(place: Place) -> Function:
        name = place.step.function
        if runs_scripts(place) and not _may_run(name, settings):
            what = f"the function {name!r} runs code of the composition"
            fix = f"permit it in claimsmith.yaml: functions: {{scripts: [{name}]}}"
            raise ComposeError(place.document.problem(what, place.step.at, fix))
        return bind(place)

    return bound


def _may_run(name: str, settings: FunctionSettings | None) -> bool:
    return settings is not None and matches(name, settings.scripts)


def runs_scripts(place: Place) -> bool:
    """Whether a step's function runs code of its input."""
    step = place.step
    named = any(step.function == known or step.function.endswith(f"-{known}") for known in _SCRIPTS)
    group = group_of(str(step.input.get("apiVersion", "")))
    return named or group in _SCRIPT_GROUPS or function_of(step.function, step.input) in _SCRIPTS


def _served(document: Document, root: Path) -> tuple[str, grpc_caller.Address | grpc_caller.Program | None]:
    """A function of functions.yaml, and where it runs; None for one that is built in, or that needs a container."""
    data = document.data
    metadata = object_at(data, "metadata")
    name = metadata.get("name")
    if GroupKind.of(data) != KIND or not isinstance(name, str):
        fix = "list functions of pkg.crossplane.io and nothing else"
        raise LoadError(document.problem(f"{data.get('kind')} is no function", "kind", fix))
    annotations = object_at(metadata, "annotations")
    if _BINARY in annotations:
        import shlex

        from claimsmith.functions import grpc_caller

        path = Path(str(annotations[_BINARY])).expanduser()
        arguments = shlex.split(str(annotations.get(_ARGUMENTS, ""))) or grpc_caller.ARGUMENTS
        return name, grpc_caller.Program(str(path if path.is_absolute() else root / path), tuple(arguments), str(root))
    if _ADDRESS in annotations:
        return name, _address(document, str(annotations[_ADDRESS]), _ADDRESS)
    if annotations.get(_RUNTIME) == "Development" and not function_of(name, {}):
        return name, _address(document, str(annotations.get(_TARGET, _DEFAULT_TARGET)), _TARGET)
    return name, None


def _address(document: Document, target: str, annotation: str) -> grpc_caller.Address:
    """An address on this machine: what a claim contains would go over a network in plain text."""
    host = target.removeprefix("dns:///").rpartition(":")[0].strip("[]")
    if not target.startswith("unix:") and not _is_loopback(host):
        what = f"the function is at {target}, which is not this machine"
        fix = "run it here, or forward a local port to it: the connection is not encrypted"
        raise LoadError(document.problem(what, f"metadata.annotations[{annotation}]", fix))
    from claimsmith.functions import grpc_caller

    return grpc_caller.Address(target)


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _folders(folder: Path, root: Path) -> Sequence[Path]:
    """The folders of functions. A link that leads out of the project is refused: its target would become readable."""
    found = [path for path in sorted(folder.iterdir()) if path.is_dir()] if folder.is_dir() else []
    # A folder is looked into once it is known to be one of the project.
    inner = [path for path in found if path.name != MODULES and not path.name.startswith(".") and _stays(path, root)]
    parts = {path: _parts(path) for path in inner}
    for part in (part for each in parts.values() for part in each):
        _stays(part, root)
    return [path for path, each in parts.items() if each]


def _parts(folder: Path) -> list[Path]:
    """The files that make a folder a function; none where it is no function. Hidden templates are left out."""
    mains = [folder / main for main in (_KCL, _PYTHON) if (folder / main).is_file()]
    if mains:
        return [*mains, *folder.glob("*.k")]
    found = [path for path in sorted(folder.rglob(f"*{_TEMPLATE}")) if path.is_file()]
    return [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def _stays(path: Path, root: Path) -> Path:
    """A path of the project, resolved; refused where it leads elsewhere, or to the project as a whole."""
    if strange := leads_out(path, root=root):
        raise LoadError(strange)
    found, whole = path.resolve(), root.resolve()
    if whole.is_relative_to(found):
        what = f"{_shown(path, root)} is the whole project: a function would read all of its files"
        raise LoadError(Problem(what, fix="keep the function and its modules in folders of their own"))
    return found


def _embedded(folder: Path, root: Path, settings: FunctionSettings | None) -> Bind:
    """The function of a folder: in KCL, in Python, or of templates."""
    if (folder / _KCL).is_file():
        return lambda place: _in_folder(folder, root)(place)
    if not (folder / _PYTHON).is_file():
        return lambda place: _of_templates(folder, root)(place)

    def bound(place: Place) -> Function:
        if not _may_run(folder.name, settings):
            what = f"the function {folder.name!r} is Python code of the project"
            fix = f"permit it in claimsmith.yaml: functions: {{scripts: [{folder.name}]}}"
            raise ComposeError(place.document.problem(what, place.step.at.removesuffix(".input"), fix))
        return _code(str(folder.resolve()), root, settings)(place)

    return bound


def _code(folder: str, root: Path, settings: FunctionSettings | None) -> Bind:
    from claimsmith.functions import python

    return python.of_code(python.Code(folder, _interpreter(root, settings)))


def _in_composition(folder: Path, root: Path) -> Bind:
    """KCL programs of compositions, with the modules of the project."""
    from claimsmith.functions import kcl

    modules = _modules(folder / MODULES, root)
    return kcl.of_program(kcl.Program(packages=modules, folders=tuple(sorted(modules.values()))))


def _in_folder(folder: Path, root: Path) -> Bind:
    from claimsmith.functions import kcl

    return kcl.of_program(_program(folder, root))


def _of_templates(folder: Path, root: Path) -> Bind:
    """The templates below a folder, in the order of their paths."""
    from claimsmith.functions import go_templating

    files = {path.relative_to(folder).as_posix(): read_text(path, root=root) for path in _parts(folder)}
    return go_templating.of_templates(dict(sorted(files.items())))


def _interpreter(root: Path, settings: FunctionSettings | None) -> str:
    """The interpreter for Python functions; a path below the project, else this one."""
    given = settings.interpreter if settings else ""
    return os.path.abspath(root / Path(given).expanduser()) if given else ""


def _program(folder: Path, root: Path) -> kcl.Program:
    from claimsmith.functions import kcl

    files = sorted(str(p.resolve()) for p in folder.glob("*.k") if not p.name.endswith("_test.k"))
    packages = dict(_dependencies(folder, root))
    return kcl.Program(tuple(files), packages, tuple(sorted({str(folder.resolve()), *packages.values()})))


def _dependencies(folder: Path, root: Path) -> Iterator[tuple[str, str]]:
    """The modules that a folder's kcl.mod names, and their folders."""
    listed = folder / _MODULE_FILE
    if not listed.is_file():
        return
    import tomllib

    try:
        wanted: Mapping[str, Any] = tomllib.loads(listed.read_text(encoding="utf-8")).get("dependencies", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise LoadError(Problem(f"{_shown(listed, root)} cannot be read: {error}", fix="fix it")) from error
    for name, source in wanted.items():
        found = next((p for p in _places(name, source, folder, root) if (p / _MODULE_FILE).is_file()), None)
        if found is None or not found.resolve().is_relative_to(root.resolve()):
            what = f"{_shown(listed, root)} needs the module {name!r}, which the project does not have"
            raise LoadError(Problem(what, fix=f"copy it to {FOLDER}/{MODULES}/{name}: nothing is fetched in a run"))
        yield name, str(_stays(found, root))


def _places(name: str, source: Any, folder: Path, root: Path) -> Iterator[Path]:
    if isinstance(source, Mapping) and isinstance(source.get("path"), str):
        yield folder / source["path"]
    yield folder / "vendor" / name
    yield from sorted((folder / "vendor").glob(f"{name}_*"))
    yield root / FOLDER / MODULES / name


def _modules(folder: Path, root: Path) -> dict[str, str]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {p.name: str(_stays(p, root)) for p in found if (p / _MODULE_FILE).is_file()}


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
