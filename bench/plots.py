"""Draws the figures that other benchmarks kept.

    make plots ARGS="scale FIGURES.json PICTURE.svg"
    make plots ARGS="retrieval FIGURES.json PICTURE.svg"

`scale`: what bench/scale.py measured over the number of facts, on logarithmic axes. `retrieval`:
how often some evidence is among the first answers, of bench/retrieval.py or bench/peers/run.py.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MEASURED = {
    "p50_ms": "memory_recall, p50, ms",
    "processor_ms": "memory_recall, processor, ms",
    "server_mb": "memory of the server, MB",
    "database_mb": "database, MB",
    "index_mb": "index of vectors, MB",
    "build_s": "its build, s",
}
CUTS = (1, 5, 10, 20)


def main() -> None:
    """Read, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("scale", "retrieval"))
    parser.add_argument("figures", type=Path)
    parser.add_argument("picture", type=Path)
    given = parser.parse_args()
    # The same figures give the same file, with its text as text.
    plt.rcParams.update({"svg.hashsalt": "memory-butler", "svg.fonttype": "none", "font.size": 9})
    kept = json.loads(given.figures.read_text(encoding="utf-8"))
    drawn = draw_scale(kept) if given.what == "scale" else draw_retrieval(kept)
    drawn.savefig(given.picture, metadata={"Date": None})


def draw_scale(rows: list[dict[str, Any]]) -> Figure:
    """A panel for each measure, a line for each kind of search and number of tenants."""
    figure, panels = plt.subplots(2, 3, figsize=(10.5, 5.8), layout="constrained")
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        tenants = "1 tenant" if row["tenants"] == 1 else f"{row['tenants']} tenants"
        lines[f"{row['search']}, {tenants}"].append(row)
    for panel, (measure, title) in zip(panels.flat, MEASURED.items(), strict=True):
        for place, (name, line) in enumerate(lines.items()):
            points = [(row["facts"], row[measure]) for row in line if row[measure] > 0]
            if points:
                drawn = zip(*points, strict=True)
                panel.plot(*drawn, color=f"C{place}", marker="o", markersize=3, label=name)
        _furnish(panel, title)
        panel.set_xscale("log")
        if measure == "server_mb":
            panel.set_ylim(bottom=0)
        else:
            panel.set_yscale("log")
        panel.minorticks_off()
        panel.set_xlabel("facts")
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw_retrieval(kept: dict[str, dict[str, dict[str, Any]]]) -> Figure:
    """A panel for each set, a line for each way to ask."""
    figure, panels = plt.subplots(
        1, len(kept), figsize=(5.25 * len(kept), 4), layout="constrained", squeeze=False
    )
    for panel, (name, ways) in zip(panels.flat, kept.items(), strict=True):
        for way, result in ways.items():
            rows = result["rows"]
            shares = [100 * sum(row[f"any@{cut}"] for row in rows) / len(rows) for cut in CUTS]
            panel.plot([str(cut) for cut in CUTS], shares, marker="o", markersize=3, label=way)
        _furnish(panel, f"{name}: some evidence in the first k answers, %")
        panel.set_xlabel("k")
        panel.legend(frameon=False, fontsize="small")
    return figure


def _furnish(panel: Axes, title: str) -> None:
    panel.set_title(title, fontsize="medium")
    panel.grid(color="#e5e5e5")
    panel.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
