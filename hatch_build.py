"""The build hook: the dashboard goes into the wheel, and into the source folder of an editable one.

Where the npm registry cannot be reached the installation goes on without a dashboard, says so, and
leaves the reason for the server to show. MEMORY_BUTLER_DASHBOARD=required makes that an error, and
=skip builds nothing.
"""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DashboardHook(BuildHookInterface[Any]):
    """Builds the page with the machine's node, or with the one that comes as a Python package."""

    def dependencies(self) -> list[str]:
        """Asked before anything is built: node is brought only where it is going to be used."""
        frontend = self._frontend()
        idle = frontend.is_current() or frontend.node_of_the_machine() or _wish() == "skip"
        return [] if idle else [frontend.NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files of the wheel are gathered."""
        frontend = self._frontend()
        if not frontend.is_current() and _wish() != "skip":
            self.app.display_waiting("building the dashboard")
            try:
                frontend.build()
            except frontend.BuildFailed as error:
                if _wish() == "required":
                    raise
                frontend.note_failure(str(error))
                self.app.display_warning(f"no dashboard, all else works: {error}")
        # git ignores what is built, and hatchling what git ignores.
        build_data["artifacts"].append("/src/memory_butler/dashboard")

    def _frontend(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location(
            "frontend_build", Path(self.root, "frontend", "build.py")
        )
        assert spec is not None  # noqa: S101 -- the file is part of every source distribution
        assert spec.loader is not None  # noqa: S101
        module = importlib.util.module_from_spec(spec)
        # Where its dataclass looks for itself.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module


def _wish() -> str:
    return os.environ.get("MEMORY_BUTLER_DASHBOARD", "")
