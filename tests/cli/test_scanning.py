"""Secrets at the command line: told when stored, kept on demand, found and masked afterwards."""

from dataclasses import replace

from cli.installation import Installation

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
_MODE = "MEMORY_BUTLER_MEMORY__TRUST__SECRETS"


def test_a_secret_is_told_kept_on_demand_found_and_masked(
    installation: Installation, tenant: str
) -> None:
    of = ("--tenant", tenant)
    said = ("store-fact", "backup", "login", f"Logs in with {TOKEN}", *of)
    stored = installation.inside(*said).out
    assert "Masked before it was stored: 1 × GitHub token." in stored
    assert "add --allow-secrets" in stored
    assert "Read 1 text: none with secrets." in installation.inside("scan-secrets", *of).out
    allowed = installation.inside(*said, "--allow-secrets").out
    assert "it supersedes" in allowed
    assert "Stored as it is, and marked: 1 × GitHub token." in allowed
    (found,) = installation.inside("scan-secrets", "--json", *of).json["found"]
    assert (found["kinds"], found["left"]) == ({"GitHub token": 1}, None)
    assert found["id"] in allowed
    shown = installation.inside("scan-secrets", *of).out
    assert "--mask masks them" in shown
    masked = installation.inside("scan-secrets", "--mask", *of).out
    assert "Masked: 1." in masked
    assert TOKEN not in stored + allowed + shown + masked
    assert "[masked: GitHub token" in installation.inside("get", "fact", found["id"], *of).out
    assert "none with secrets" in installation.inside("scan-secrets", *of).out
    assert f"Restored fact {found['id']}." in installation.inside(*_unmask(masked)).out
    assert TOKEN in installation.inside("get", "fact", found["id"], *of).out


def test_what_was_masked_comes_back_by_the_line_that_said_so(
    installation: Installation, tenant: str
) -> None:
    of = ("--tenant", tenant)
    for said in (("store-fact", "ci", "login", f"Uses {TOKEN}"), ("store-rule", f"Use {TOKEN}")):
        stored = installation.inside(*said, *of).out
        restored = installation.inside(*_unmask(stored)).out
        assert restored.startswith(f"Restored {said[0].removeprefix('store-')} ")
    again = installation.inside(*_unmask(stored), code=4)
    assert "restored already, or its hour is over" in again.err
    assert installation.inside("unmask", "nonsense", *of, code=3).code == 3


def _unmask(said: str) -> tuple[str, ...]:
    """The command in an answer that said what was masked."""
    command = said.partition("`memory-butler ")[2].partition("`")[0]
    return tuple(command.split())


def test_a_refusal_says_what_to_do_and_names_no_secret(
    installation: Installation, tenant: str
) -> None:
    said = ("store-rule", f"Push with {TOKEN}", "--allow-secrets", "--tenant", tenant)
    answer = replace(installation, extra={_MODE: "refuse"}).inside(*said, code=3)
    assert answer.code == 3
    assert "1 × GitHub token; memory refuses secrets" in answer.err
    assert TOKEN not in answer.out + answer.err
