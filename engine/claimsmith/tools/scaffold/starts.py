"""What a new project can begin with: a provider of Pulumi, or Crossplane's definitions and compositions.

Each has a folder below `starts/`: its files, the targets `up` and `down` of the Makefile, the config of Pulumi.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from claimsmith.base.errors import LoadError, Problem, suggest
from claimsmith.project import sdks


@dataclass(frozen=True, slots=True)
class Start:
    """What a project begins with."""

    name: str
    title: str
    """What its example is, for a person to choose by."""
    packages: tuple[str, ...] = ()
    """The Pulumi providers of its example."""
    deploys_to: str = ""
    """Where `make up` deploys it."""

    @property
    def folder(self) -> Traversable:
        """The files of the package that are only of this start."""
        return resources.files("claimsmith.tools.scaffold") / "starts" / self.name

    @property
    def requirements(self) -> list[str]:
        """The lines of a requirements file that install its providers; refused where one is not installed."""
        return [sdks.index_of(package).requirement for package in self.packages]


STARTS = {
    start.name: start
    for start in (
        Start(
            "postgresql",
            "databases on a PostgreSQL server; deploys on this machine, without a cloud account",
            ("postgresql", "random"),
            "to a PostgreSQL server on this machine",
        ),
        Start("aws", "buckets on AWS", ("aws",), "to AWS, with your own credentials; asks first"),
        Start(
            "azure", "storage accounts on Azure", ("azure-native",), "to Azure, with your own credentials; asks first"
        ),
        Start("gcp", "buckets on Google Cloud", ("gcp",), "to Google Cloud, with your own credentials; asks first"),
        Start(
            "crossplane",
            "a Crossplane definition with its composition, for a cluster",
            (),
            "to a control plane on this machine, with a simulated cloud",
        ),
    )
}
DEFAULT = "postgresql"


def find(name: str) -> Start:
    """The start of a name; another name is refused with the nearest one."""
    if name not in STARTS:
        raise LoadError(Problem(f"a project cannot begin with {name!r}", fix=suggest(name, STARTS)))
    return STARTS[name]
