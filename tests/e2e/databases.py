"""Projects without a cluster, and the PostgreSQL server that their claims become databases of."""

from __future__ import annotations

import copy
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from claimsmith.lab import postgresql
from tests.e2e.rig import Ran, Rig

_CLASS = Path(__file__).resolve().parents[2] / "components" / "postgresql" / "class.yaml"
KIND = "PostgreSQLDatabase"
GROUP = "database.example.org"
STACK = "dev"


def database_class(name: str = "postgresql", *, provider: str | None = None) -> dict[str, Any]:
    """The class of the example platform, under any name, on a named provider of the stack where one is named."""
    klass: dict[str, Any] = yaml.safe_load(_CLASS.read_text(encoding="utf-8"))
    klass["metadata"] = {"name": name}
    for resource in klass["spec"]["resources"]:
        if provider and resource["base"]["type"].startswith("postgresql:"):
            resource["base"]["options"] = {"provider": provider}
    return klass


def retained(klass: dict[str, Any]) -> dict[str, Any]:
    """The class, with children that stay when they leave the stack."""
    changed = copy.deepcopy(klass)
    for resource in changed["spec"]["resources"]:
        resource["base"].setdefault("options", {})["retainOnDelete"] = True
    return changed


def template(klass: dict[str, Any], name: str) -> dict[str, Any]:
    """One of the templates of a class, to be changed."""
    found: dict[str, Any] = next(r for r in klass["spec"]["resources"] if r["name"] == name)
    return found


def database_claim(
    name: str, *, klass: str = "postgresql", annotations: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """A claim for it."""
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": KIND,
        "metadata": {
            "namespace": "default",
            "name": name,
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": {
            "connections": 20,
            "classRef": {
                "apiVersion": "infrastructure.crossplane.io/v1alpha1",
                "kind": "CompositeResourceClass",
                "name": klass,
            },
            **spec,
        },
    }


@dataclass
class DatabaseRig(Rig):
    """A project whose stacks need no cluster, only this server."""

    server: postgresql.Server | None = None
    databases: list[str] = field(default_factory=list)
    """The names that this test's claims take on the shared server."""

    @property
    def password(self) -> str:
        """The administrator's."""
        assert self.server
        return self.server.password_file.read_text().strip()

    def named(self, word: str = "orders") -> str:
        """A name for a claim, and so for a database, that no other test uses."""
        name = f"{word}-{self.name}"
        self.databases.append(name)
        return name

    def claim(self, name: str, **options: Any) -> None:
        """Write a claim."""
        self.write(f"stacks/{STACK}/claims/{name}.yaml", database_claim(name, **options))

    def unclaim(self, name: str) -> None:
        """Remove a claim, and its binding."""
        self.remove(f"stacks/{STACK}/claims/{name}.yaml")
        self.ok(self.claimsmith("bind", STACK))

    def prepare(self, *stacks: str) -> None:
        """Generate components, bind claims, make the stacks, and tell them the server."""
        assert self.server
        self.ok(self.claimsmith("generate"))
        for stack in stacks or (STACK,):
            self.ok(self.claimsmith("bind", stack))
            self.ok(self.pulumi("stack", "init", stack))
            settings = {"host": self.server.host, "port": self.server.port, "username": self.server.user}
            for key, value in {**settings, "sslmode": "disable"}.items():
                self.ok(self.pulumi("config", "set", "--stack", stack, f"postgresql:{key}", str(value)))
            self.secret_setting("postgresql:password", self.password, stack)

    def secret_setting(self, key: str, value: str, stack: str = STACK, *words: str) -> None:
        """Encrypt a value into the stack's config; it stands on no command line and in no log of ours."""
        command = ["pulumi", "config", "set", "--stack", stack, "--secret", *words, key, "--non-interactive"]
        subprocess.run(command, cwd=self.root, env=self.environment, input=value, text=True, check=True)

    def connection(self, name: str, form: str = "uri") -> str:
        """The claim's own connection details; not kept with what other commands print, for it is secret."""
        ran = self.ok(self.claimsmith("connection", STACK, f"default/{name}", "--format", form))
        self.printed.remove(ran.text)
        return ran.out.strip()

    def login(self, name: str, sql: str) -> Ran:
        """What the server answers to the claim's own credentials."""
        return psql(self.connection(name), sql)

    def admin(self, sql: str, database: str = "postgres") -> str:
        """What the server answers to its administrator."""
        assert self.server
        address = f"postgresql://{self.server.user}@{self.server.host}:{self.server.port}/{database}"
        return self.ok(psql(address, sql, password=self.password)).out.strip()

    def oid(self, name: str) -> str:
        """What tells a database apart from another of its name; empty where there is none."""
        return self.admin(f"SELECT oid FROM pg_database WHERE datname = '{name}'")

    def role(self, name: str) -> str:
        """The same of a role."""
        return self.admin(f"SELECT oid FROM pg_roles WHERE rolname = '{name}'")

    def drop(self) -> None:
        """Remove what the test's claims may have left on the shared server."""
        for name in self.databases:
            self.admin(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            self.admin(f'DROP ROLE IF EXISTS "{name}"')


def psql(address: str, sql: str, *, password: str = "") -> Ran:
    """What a server answers to a client with an address of its own."""
    program = postgresql.psql()
    assert program
    secret = {"PGPASSWORD": password} if password else {}
    done = subprocess.run(
        [program, address, "-At", "-c", sql],
        env={**os.environ, "PGSSLMODE": "disable", **secret},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
