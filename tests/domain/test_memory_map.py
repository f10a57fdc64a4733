"""Which entities stand in a fact, and which are shown."""

import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as some

from memory_butler.domain.memory_map import EDGES_PER_NODE, MAX_IN_FACT, Known, Stated, draw

ANA, RUI, OTHER_RUI, PORTO, HALL = (UUID(int=number) for number in range(1, 6))
ENTITIES = (
    Known(ANA, ["Ana Silva", "Ana"]),
    Known(RUI, ["Rui Tavares", "Rui"]),
    Known(OTHER_RUI, ["Rui Costa", "Rui"]),
    Known(PORTO, ["Porto"]),
    Known(HALL, ["City Hall of Porto"]),
)


def fact(text: str, about: UUID | None = None, number: int = 1, **other: float) -> Stated:
    made = {"confidence": 1.0, "trust": 4} | other
    return Stated(UUID(int=100 + number), about, text, made["confidence"], int(made["trust"]))


@pytest.mark.parametrize(
    ("one", "joined"),
    [
        (fact("user. Moved to Porto", ANA), {(ANA, PORTO)}),
        (fact("user. Moved to Porto"), set()),
        (fact("Ana Silva. Met Rui Tavares in Porto"), {(ANA, RUI), (ANA, PORTO), (RUI, PORTO)}),
        # The longest name counts, and nothing within it.
        (fact("Ana. Works at the City Hall of Porto"), {(ANA, HALL)}),
        # As written and by whole words only.
        (fact("Ana. Drinks porto and reads Portobello"), set()),
        # A name of two is nobody's, unless the fact is about one of them.
        (fact("Ana. Had lunch with Rui"), set()),
        (fact("Rui. Lives in Porto", RUI), {(RUI, PORTO)}),
    ],
)
def test_entities_are_joined_by_the_facts_in_which_both_stand(
    one: Stated, joined: set[tuple[UUID, UUID]]
) -> None:
    _, edges = draw(ENTITIES, [one], 10)
    assert {(edge.source_id, edge.target_id) for edge in edges} == joined
    assert all((edge.facts, edge.fact_id) == (1, one.id) for edge in edges)


def test_many_names_that_begin_alike_cost_a_text_nothing() -> None:
    """Drawn in a thread, which would keep all others waiting; times are compared with another."""

    def seconds(entities: int) -> float:
        alike = [Known(UUID(int=number), [f"a x{number}"]) for number in range(entities)]
        texts = [fact("a " * 250, number=number) for number in range(40)]
        began = time.thread_time()
        draw(alike, texts, 1)
        return time.thread_time() - began

    assert min(seconds(2_000) for _ in range(3)) < 5 * min(seconds(20) for _ in range(3))


def test_figures_are_of_all_facts_in_which_an_entity_stands() -> None:
    nodes, edges = draw(
        ENTITIES,
        [
            fact("Ana. Lives in Porto", ANA, 1, confidence=1.0, trust=5),
            fact("Ana. Walks through Porto", ANA, 2, confidence=0.5, trust=2),
            fact("Ana. Sails", ANA, 3, confidence=0.3, trust=4),
        ],
        10,
    )
    ana, porto, *others = nodes
    assert (ana.id, ana.named, ana.trust) == (ANA, 0, 2)
    assert ana.confidence == pytest.approx(0.6)
    assert (porto.id, porto.named, porto.confidence, porto.trust) == (PORTO, 2, 0.75, 2)
    assert {(one.named, one.confidence, one.trust) for one in others} == {(0, None, None)}
    assert [(one.facts, one.fact_id) for one in edges] == [(2, UUID(int=101))]


@given(
    some.lists(some.lists(some.integers(0, 29), max_size=14), max_size=40),
    some.integers(1, 40),
)
def test_the_best_connected_are_kept_and_edges_stay_within_them(
    lists: list[list[int]], limit: int
) -> None:
    known = [Known(UUID(int=1 + place), [f"N{place}"]) for place in range(30)]
    said = [
        fact(" ".join(f"N{place}" for place in one), None, number)
        for number, one in enumerate(lists)
    ]
    everything, _ = draw(known, said, 30)
    nodes, edges = draw(known, said, limit)
    assert nodes == everything[:limit]
    shown = {one.id for one in nodes}
    assert len(edges) <= EDGES_PER_NODE * limit
    for edge in edges:
        assert {edge.source_id, edge.target_id} <= shown
        assert edge.source_id != edge.target_id
    neighbours = {
        one.id: {
            other
            for words in lists
            if (listed := list(dict.fromkeys(words))[:MAX_IN_FACT]) and one.id.int - 1 in listed
            for other in listed
            if other != one.id.int - 1
        }
        for one in known
    }
    counts = [len(neighbours[one.id]) for one in nodes]
    assert counts == sorted(counts, reverse=True)
