"""`write-rules` as a person types it."""

import stat
from pathlib import Path

from cli.installation import Installation


def test_rules_are_written_checked_and_kept(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    def run(*words: str, code: int = 0) -> str:
        return installation.inside(*words, "--tenant", tenant, code=code).out

    agents, skill = tmp_path / "AGENTS.md", tmp_path / "skills" / "house-rules" / "SKILL.md"
    link = tmp_path / "CLAUDE.md"
    link.symlink_to(agents)
    assert run("write-rules", str(agents)) == f"{agents}: not made, because no rule is proven yet\n"
    rule = run("store-rule", "Ask before booking").split()[-1].rstrip(".")
    for _ in range(2):
        run("rules", "move", rule, "promote")

    agents.write_bytes(b"# Mine\r\n")
    agents.chmod(0o640)
    assert run("write-rules", str(agents), str(skill), "--check", code=1) == (
        f"{agents}: out of date\n{skill}: out of date\n"
    )
    shown = run("write-rules", str(agents), "--dry-run")
    assert "+- Ask before booking" in shown
    assert "-# Mine" not in shown
    assert agents.read_bytes() == b"# Mine\r\n"
    assert not skill.exists()
    assert run("write-rules", str(link), str(skill)) == (
        f"{link}: 1 rule written\n{skill}: 1 rule written\n"
    )
    assert link.is_symlink()
    assert agents.read_bytes().startswith(b"# Mine\r\n\r\n<!-- memory-butler:begin rules")
    assert stat.S_IMODE(agents.stat().st_mode) == 0o640
    assert stat.S_IMODE(skill.stat().st_mode) == 0o644
    assert "name: house-rules" in skill.read_text()
    assert run("write-rules", str(agents), str(skill), "--check") == (
        f"{agents}: up to date, 1 rule\n{skill}: up to date, 1 rule\n"
    )
    run("rules", "move", rule, "demote")
    run("write-rules", str(agents))
    assert b"Ask before" not in agents.read_bytes()
    refused = installation.inside("write-rules", str(tmp_path), "--tenant", tenant, code=3)
    assert "cannot be read" in refused.err
