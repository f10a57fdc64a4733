"""Generated years, of other seeds, other worlds and with something idle beside each question.

    python bench/years.py --household FOLDER [--only NAME ...] [--json OUT] [--record]

Each year is generated with FOLDER/generate.py and lived through as `bench/household.py` does it,
two at a time. The run fails where a share has fallen below the one in `recorded_years.json` by
more than a point and a question. `--record` keeps the shares of this run instead.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import household

HERE: Final = Path(__file__).parent
RECORDED: Final = HERE / "recorded_years.json"
TOGETHER: Final = 2

Shares = Mapping[str, float]  # of a year, in per cent, by what they are of


@dataclass(frozen=True, slots=True)
class Year:
    """A world, the seed of its events, and what stands beside each question, if anything."""

    world: str  # of the household's folder, or of bench/worlds
    seed: int
    beside: str | None = None

    @property
    def name(self) -> str:
        return f"{self.world} {self.seed}" + (f", beside a {self.beside}" if self.beside else "")


WORLDS: Final = ("studio", "farm", "clinic", "crew", "harbour", "theatre")
YEARS: Final = (
    *(Year("dev", seed) for seed in (1, 2, 3, 4)),
    *(Year(world, 1) for world in WORLDS),
    *(Year(world, 1, "prompt") for world in ("dev", *WORLDS[:3])),
)


def lived(year: Year, generator: Path) -> dict[str, Any]:
    """Every figure of a year on an empty memory."""
    ours = HERE / "worlds" / f"{year.world}.json"
    world = ours if ours.exists() else generator / "worlds" / ours.name
    with TemporaryDirectory() as folder:
        scenario = Path(folder, "year.jsonl")
        options = {"--seed": year.seed, "--days": 365, "--world": world, "--out": scenario}
        command = [generator / "generate.py", *(part for one in options.items() for part in one)]
        subprocess.run([sys.executable, *map(str, command)], check=True, stdout=subprocess.DEVNULL)
        events = household.read(scenario)
    if year.beside:
        events = household.beside(events, year.beside)
    return household.run(events, (), year.name)


def shares_of(column: Mapping[str, Any]) -> dict[str, float]:
    return {name: round(one["percent"], 1) for name, one in column["shares"].items()}


def below(recorded: Shares, column: Mapping[str, Any]) -> Iterator[str]:
    """What of a year is below its record by more than a point and a question."""
    for name, least in recorded.items():
        share = column["shares"][name]
        if share["percent"] < least - max(1.0, 100 / share["of"]) - 0.05:  # it is rounded
            yield f"{name} {share['percent']:.1f} instead of {least:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--household", type=Path, required=True, help="the generator's folder")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=[year.name for year in YEARS], help="of these"
    )
    parser.add_argument("--json", type=Path, help="keep every figure, and what was missed, here")
    parser.add_argument("--record", action="store_true", help="record the shares of this run")
    given = parser.parse_args()
    years = [year for year in YEARS if not given.only or year.name in given.only]
    recorded: dict[str, Shares] = json.loads(RECORDED.read_text("utf-8"))
    columns: dict[str, dict[str, Any]] = {}
    fallen = []
    with ProcessPoolExecutor(
        TOGETHER, get_context("spawn"), max_tasks_per_child=1
    ) as processes:  # each year has settings of its own, made at start
        running = {year: processes.submit(lived, year, given.household) for year in years}
        for year, process in running.items():
            column = columns[year.name] = process.result()
            print("\n".join(household.table({year.name: column})), end="\n\n", flush=True)
            fallen += [f"{year.name}: {one}" for one in below(recorded.get(year.name, {}), column)]
    if given.json:
        given.json.write_text(json.dumps(columns, indent=1, ensure_ascii=False), "utf-8")
    if given.record:
        recorded |= {name: shares_of(column) for name, column in columns.items()}
        RECORDED.write_text(json.dumps(recorded, indent=2) + "\n", "utf-8")
    elif fallen:
        sys.exit("less than recorded:\n" + "\n".join(fallen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
