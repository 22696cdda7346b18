"""Builds the package; all that can be said without code is in pyproject.toml.

The Go modules that the engine is built from stand beside the package in the source tree. A wheel carries them inside
it, so that `claimsmith toolchain install` can build where nothing can be downloaded.
"""

from pathlib import Path
from shutil import copytree, ignore_patterns

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithModules(build_py):
    """The usual build, and the Go modules."""

    def run(self) -> None:
        """Copy them; an editable installation finds them in the source tree."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "claimsmith", "toolchain", "modules")
            copytree("engine/toolchain", target, ignore=ignore_patterns("*.json"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithModules})
