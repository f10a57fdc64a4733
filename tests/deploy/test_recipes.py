"""The files of deploy/: each is read by the program that it is for, where that is installed."""

import datetime as dt
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from typer import Context
from typer.core import TyperGroup

from memory_butler.__main__ import _serve
from memory_butler.config import Settings
from memory_butler.surfaces.cli.program import build

DEPLOY = Path(__file__).parents[2] / "deploy"
INSTALLED = "/opt/memory-butler/bin/memory-butler"


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@needs("systemd-analyze")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    # It looks whether the program is there.
    here = str(Path(sys.executable).with_name("memory-butler"))
    units = []
    for unit in sorted(DEPLOY.glob("memory-butler*.*")):
        text = unit.read_text(encoding="utf-8")
        (tmp_path / unit.name).write_text(text.replace(INSTALLED, here), encoding="utf-8")
        units.append(tmp_path / unit.name)
    assert len(units) == 3
    said = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")


@pytest.mark.parametrize("unit", sorted(DEPLOY.glob("*.service")), ids=lambda unit: unit.stem)
def test_a_unit_that_may_write_nowhere_has_a_tmp_of_its_own(unit: Path) -> None:
    """`strict` makes /tmp read-only, too, where a model that is a command works."""
    said = unit.read_text(encoding="utf-8").splitlines()
    assert "ProtectSystem=strict" in said
    assert "PrivateTmp=yes" in said


def proxy_in(folder: Path) -> str:
    """The file for nginx, with a certificate of this day in a folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "memory.example.org")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "memory.example.org.pem").write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
    )
    (folder / "memory.example.org.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("/etc/ssl", str(folder))


@needs("nginx")
def test_nginx_takes_the_proxy(tmp_path: Path) -> None:
    site = proxy_in(tmp_path)
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid; events {{}} http {{ {site} }}", encoding="utf-8")
    command = ["nginx", "-t", "-q", "-c", str(whole), "-e", str(tmp_path / "errors")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")


def test_the_containers_run_commands_and_settings_that_there_are() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    app = build(_serve)
    for service in (compose["services"]["prepare"], compose["services"]["server"]):
        context = DEPLOY / service["build"]["context"]
        assert (context / service["build"]["dockerfile"]).resolve() == DEPLOY / "Containerfile"
        _parse(app, service.get("command", ["serve"]))
    variables = {*compose["services"]["server"]["environment"], *_image_environment()}
    ours = {name for name in variables if name.startswith("MEMORY_BUTLER_")}
    assert ours == {"MEMORY_BUTLER_DSN", "MEMORY_BUTLER_DATA_DIR", "MEMORY_BUTLER_LOG_FORMAT"}
    fields = {name.removeprefix("MEMORY_BUTLER_").lower() for name in ours}
    assert fields <= {*Settings.model_fields}


def _parse(app: Any, arguments: list[str]) -> None:
    """Raises what the command line raises for a command or an option that there is not."""
    while isinstance(app, TyperGroup):
        name, *arguments = arguments
        app = app.get_command(Context(app), name)
        assert app is not None, f"there is no command {name}"
    app.make_context("memory-butler", arguments)


def _image_environment() -> Iterator[str]:
    for line in (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines():
        name, given, _ = line.strip().removeprefix("ENV ").partition("=")
        if given and name.isupper():
            yield name
