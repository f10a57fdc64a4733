"""An erasure that is killed after its transaction: the same command finishes and certifies it."""

from cli.installation import Installation
from memory_butler.erasure.certificate import verify

MARKER = "Her number is 555 0100"


def test_a_killed_erasure_is_finished_by_the_same_command(
    installation: Installation, tenant: str
) -> None:
    of = ("--tenant", tenant)
    installation.inside("store-fact", "Ann", "phone", MARKER, *of)
    wanted = ("erase", "--everything", "--yes", *of)
    killed = installation.start(*wanted)
    assert killed.stderr is not None
    for line in killed.stderr:
        if line.startswith("rewriting"):  # the transaction is done, the bytes are still there
            killed.kill()
            break
    killed.communicate()
    assert killed.returncode == -9
    certificates = installation.data_dir / "erasures"
    before = set(certificates.glob("*.json"))
    assert "1 facts" in installation.inside(*wanted).out
    (made,) = set(certificates.glob("*.json")) - before
    said = verify(made, str(certificates / "signing-key.pub")).certificate
    assert (said["tenant"], said["rows"]["facts"]) == (tenant, 1)
    assert said["bytes"]["log_renewed"]
    assert "Nothing found" in installation.inside("search", MARKER, *of).out
