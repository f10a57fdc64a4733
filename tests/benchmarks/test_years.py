"""The guard of the generated years: when it fails, and that every year has its record."""

import json

from bench.years import RECORDED, YEARS, below


def test_a_year_fails_below_its_record_by_more_than_a_point_and_a_question() -> None:
    recorded = {"needs: far": 77.0, "needs: critical": 99.3}
    column = {
        "shares": {
            "needs: far": {"percent": 76.0, "of": 156},
            "needs: critical": {"percent": 97.2, "of": 40},
            "no false content": {"percent": 10.0, "of": 40},
        }
    }

    assert list(below(recorded, column)) == []
    column["shares"]["needs: far"]["percent"] = 75.9
    column["shares"]["needs: critical"]["percent"] = 96.7
    assert list(below(recorded, column)) == [
        "needs: far 75.9 instead of 77.0",
        "needs: critical 96.7 instead of 99.3",
    ]


def test_every_year_has_its_record() -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))

    assert set(recorded) == {year.name for year in YEARS}
    for shares in recorded.values():
        assert shares["truths learned"] > 98  # passwords of web sites are masked
        assert {"needs: critical", "needs: far", "rules shown when relevant"} <= set(shares)
