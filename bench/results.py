"""The scores of one way to ask, question by question, and the tables that are made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.datasets import Conversation, Question
from bench.metrics import mean, paired_difference, percentile, score

DEPTH = 20  # answers asked for
COLUMNS = ("any@1", "any@5", "any@10", "any@20", "all@10", "ndcg@10")


@dataclass(slots=True)
class Result:
    """The scores of one way to ask, question by question; `storing` took so many seconds."""

    rows: list[dict[str, float]] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    empty: int = 0
    items: int = 0
    storing: float = 0.0

    @property
    def items_per_second(self) -> float:
        """How fast everything that was asked about was stored before."""
        return self.items / self.storing

    def extend(self, other: "Result") -> None:
        """The same way, asked of another store."""
        self.rows += other.rows
        self.categories += other.categories
        self.milliseconds += other.milliseconds
        self.empty += other.empty
        self.items += other.items
        self.storing += other.storing

    def add(self, ranked: Sequence[str], question: Question, seconds: float) -> None:
        """One question, answered."""
        self.rows.append(score(ranked, question.gold))
        self.categories.append(question.category)
        self.milliseconds.append(seconds * 1000)
        self.empty += not ranked


def print_tables(
    name: str,
    conversations: Sequence[Conversation],
    results: Mapping[str, Result],
    reference: str,
) -> None:
    """The figures of one set: overall, differences from the reference, and by category."""
    questions = sum(len(conversation.questions) for conversation in conversations)
    print(f"\n## {name}: {len(conversations)} conversations, {questions} questions\n")
    print(f"| way | {' | '.join(COLUMNS)} | empty | ms p50 / p95 | items stored/s |")
    print(f"|{'---|' * (len(COLUMNS) + 4)}")
    for way, result in results.items():
        figures = " | ".join(f"{mean(result.rows, column):.1f}" for column in COLUMNS)
        p50, p95 = (percentile(result.milliseconds, share) for share in (0.5, 0.95))
        speed = f"{result.items_per_second:.0f}"
        print(f"| {way} | {figures} | {result.empty} | {p50:.0f} / {p95:.0f} | {speed} |")
    print(f"\n| difference from {reference} | any@10 (95 %) | all@10 (95 %) | ndcg@10 (95 %) |")
    print("|---|---|---|---|")
    for way, result in results.items():
        if way != reference:
            cells = (
                paired_difference(result.rows, results[reference].rows, column)
                for column in ("any@10", "all@10", "ndcg@10")
            )
            print(f"| {way} | {' | '.join(map(str, cells))} |")
    _print_by_category(results)


def _print_by_category(results: Mapping[str, Result]) -> None:
    categories = sorted(set(next(iter(results.values())).categories))
    print(f"\n| any@10 by category | {' | '.join(categories)} |")
    print(f"|{'---|' * (len(categories) + 1)}")
    for way, result in results.items():
        cells = []
        for category in categories:
            rows = [
                row
                for row, of in zip(result.rows, result.categories, strict=True)
                if of == category
            ]
            cells.append(f"{mean(rows, 'any@10'):.1f} ({len(rows)})")
        print(f"| {way} | {' | '.join(cells)} |")
