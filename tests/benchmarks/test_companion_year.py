"""Thirty days with a companion that is killed twice: nothing is lost, and what is told is true."""

from pathlib import Path

from bench.companion_year import run


def test_a_month_with_a_companion(tmp_path: Path) -> None:
    year = run(tmp_path, "dev", seed=1, days=30, kills=2)
    assert year.kills == 2
    for name in (
        "messages in the log, each once and as it was said",
        "prompts within every cap",
        "secrets are shown to nobody",
        "plans done or dropped are never in mind again",
        "plans far off stay silent",
        "no plan was ended that should not be",
        "the prompt tells the right date of a plan",
    ):
        assert year.scores[name], name
        assert year.missed(name) == [], name
