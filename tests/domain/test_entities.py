from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.entities import (
    BASE_SCORES,
    NAME_MATCHES,
    Candidate,
    MergedAliases,
    NameMatch,
    hint_terms,
    merge_aliases,
    merge_metadata,
    name_of_work,
    neighbourhood_boost,
    rank_candidates,
    spellings,
)

BOB = Candidate(UUID(int=1), "Bob", "person", "exact", ("Robert",))
names = st.text(alphabet="abAB ", max_size=3)
name_lists = st.lists(names, max_size=5)
numbers = st.floats() | st.integers() | st.booleans() | st.text(max_size=3) | st.none()


def scored(name_match: NameMatch, **domain_scores: object) -> float:
    candidate = replace(BOB, name_match=name_match)
    return rank_candidates([candidate], domain_scores=domain_scores)[0].score


@pytest.mark.parametrize(
    ("name_match", "base"),
    [
        pytest.param("exact", 100.0, marks=pytest.mark.requirement("RES-01")),
        pytest.param("alias", 80.0, marks=pytest.mark.requirement("RES-02")),
        pytest.param("prefix", 50.0, marks=pytest.mark.requirement("RES-03")),
        pytest.param("fuzzy", 20.0, marks=pytest.mark.requirement("RES-04")),
    ],
)
def test_each_tier_has_its_base_score(name_match: NameMatch, base: float) -> None:
    assert scored(name_match) == base


def test_the_tiers_are_listed_best_first() -> None:
    assert sorted(NAME_MATCHES, key=lambda match: -BASE_SCORES[match]) == list(NAME_MATCHES)


def test_an_entity_counts_in_its_best_tier() -> None:
    found = [replace(BOB, name_match=match) for match in ("fuzzy", "alias", "prefix")]
    assert [one.name_match for one in rank_candidates(found)] == ["alias"]


@pytest.mark.requirement("RES-07")
def test_hint_terms_are_lower_case_runs_of_letters_and_digits() -> None:
    assert hint_terms("Birthday-party, Room 12!", ["Ann_Lee", "Ünal"]) == {
        "birthday",
        "party",
        "room",
        "12",
        "ann",
        "lee",
        "ünal",
    }
    assert hint_terms(None, "Ann") == {"ann"}
    assert hint_terms(None, None) == hint_terms("", []) == frozenset()


@pytest.mark.requirement("RES-07")
def test_the_boost_is_the_overlap_of_the_best_fact() -> None:
    terms = frozenset({"chess", "club"})
    assert neighbourhood_boost(["hobby chess"], terms) == pytest.approx(20 / 3)
    assert neighbourhood_boost(["hobby chess", "Chess club!"], terms) == 20.0
    assert neighbourhood_boost(["hobby tennis"], terms) == 0.0
    assert neighbourhood_boost([], terms) == neighbourhood_boost([""], frozenset()) == 0.0


@pytest.mark.requirement("RES-07")
def test_the_boost_is_added_to_the_base_and_rounded() -> None:
    candidate = replace(BOB, fact_texts=("hobby chess",))
    assert rank_candidates([candidate])[0].score == 100.0
    assert rank_candidates([candidate], terms=frozenset({"chess", "club"}))[0].score == 106.6667


@pytest.mark.requirement("RES-08")
@pytest.mark.parametrize("value", [5, 5.0])
def test_a_domain_score_is_added(value: object) -> None:
    assert scored("exact", **{str(BOB.entity_id): value}) == 105.0


@pytest.mark.requirement("RES-08")
@pytest.mark.parametrize("value", [True, "5", None, float("nan"), float("inf"), 10**400, [5]])
def test_what_is_no_number_is_skipped(value: object) -> None:
    assert scored("exact", **{str(BOB.entity_id): value}) == 100.0


@pytest.mark.requirement("RES-08")
def test_the_score_of_somebody_else_does_not_count() -> None:
    assert scored("exact", **{str(UUID(int=2)): 5.0, "nonsense": 7}) == 100.0


@pytest.mark.requirement("RES-09")
def test_order_is_by_score_then_name_then_id() -> None:
    found = [
        Candidate(UUID(int=4), "Bob", "person", "prefix"),
        Candidate(UUID(int=3), "Bob", "place", "prefix"),
        Candidate(UUID(int=5), "Abe", "person", "prefix"),
        Candidate(UUID(int=6), "Zoe", "person", "exact"),
    ]
    assert [one.entity_id.int for one in rank_candidates(found)] == [6, 5, 3, 4]


@pytest.mark.requirement("RES-10")
def test_no_candidates_give_an_empty_list() -> None:
    assert rank_candidates([], terms=frozenset({"x"}), domain_scores={"x": 1}) == []


@given(st.lists(st.text(max_size=12), max_size=5), st.frozensets(st.text(max_size=4), max_size=4))
def test_the_boost_is_bounded_and_more_facts_never_lower_it(
    texts: list[str], terms: frozenset[str]
) -> None:
    boost = neighbourhood_boost(texts, terms)
    assert 0.0 <= boost <= 20.0
    assert neighbourhood_boost(texts[1:], terms) <= boost


@pytest.mark.requirement("RES-09")
@given(st.data())
def test_ranking_does_not_depend_on_the_input(data: st.DataObject) -> None:
    candidates = data.draw(
        st.lists(
            st.builds(
                Candidate,
                entity_id=st.integers(0, 5).map(lambda number: UUID(int=number)),
                canonical_name=st.just("Bob"),
                entity_type=st.just("person"),
                name_match=st.sampled_from(NAME_MATCHES),
            ),
            max_size=8,
        )
    )
    extra = data.draw(st.dictionaries(st.integers(0, 5).map(lambda n: str(UUID(int=n))), numbers))
    ranked = rank_candidates(candidates, domain_scores=extra)
    assert rank_candidates(data.draw(st.permutations(candidates)), domain_scores=extra) == ranked
    places = [(-one.score, one.canonical_name, one.entity_id) for one in ranked]
    assert places == sorted(places)
    assert all(one.score == round(one.score, 4) for one in ranked)


@pytest.mark.requirement("MRG-04")
def test_the_old_names_become_aliases() -> None:
    merged = merge_aliases(["Rob"], "Robert Smith", ["ROB", "Bobby", "robert smith"], "Bob Smith")
    assert merged == MergedAliases(("Rob", "Bobby", "Bob Smith"), 2)


@pytest.mark.requirement("MRG-04")
def test_the_old_canonical_name_can_be_left_behind() -> None:
    merged = merge_aliases([], "Robert", ["Bobby"], "Bob", keep_source_name=False)
    assert merged == MergedAliases(("Bobby",), 1)


def test_a_blank_name_does_not_become_an_alias() -> None:
    assert merge_aliases([], "Robert", ["", " "], " ") == MergedAliases((), 0)


@pytest.mark.requirement("MRG-04")
@given(name_lists, names, name_lists, names)
def test_merged_aliases_have_no_repetition_and_lose_nothing(
    target_aliases: list[str], target_name: str, source_aliases: list[str], source_name: str
) -> None:
    merged = merge_aliases(target_aliases, target_name, source_aliases, source_name)
    lowered = [alias.lower() for alias in merged.aliases]
    assert len(set(lowered)) == len(lowered)
    wanted = {name.lower() for name in (*source_aliases, source_name) if name.strip()}
    assert wanted <= {*lowered, target_name.lower()}
    assert {alias.lower() for alias in target_aliases} <= set(lowered)
    again = merge_aliases(merged.aliases, target_name, source_aliases, source_name)
    assert again == MergedAliases(merged.aliases, 0)


@pytest.mark.requirement("MRG-05")
def test_the_target_wins_and_system_keys_stay_behind() -> None:
    target = {"city": "Oslo", "job": "cook"}
    source = {"city": "Rome", "team": "red", "merged_into": "x", "merged_at": "y"}
    assert merge_metadata(target, source) == {"city": "Oslo", "job": "cook", "team": "red"}
    assert target == {"city": "Oslo", "job": "cook"}


def test_a_question_is_looked_through_for_names_of_up_to_three_words() -> None:
    found = spellings("Does bob Miller like Ünal?")
    assert {"bob miller", "bob Miller", "Bob Miller", "ünal", "Ünal", "Does"} <= set(found)
    assert "does bob miller like" not in found
    assert spellings("?!") == ()
    assert len(spellings("word " * 10_000)) <= 3 * 3 * 64


def test_a_name_is_found_with_the_signs_within_it_and_without_those_after_it() -> None:
    for question, name in (
        ("Jean-Luc Müller-Meier's phone number", "jean-luc müller-meier"),
        ("Where does Zoë O'Brien live?", "zoë o'brien"),
        ("Is that Bruno Graf’s dog?", "bruno graf"),
        ("Call Bruno Graf's mother", "bruno graf"),
        ("Where do we stay in St. Gallen?", "st. gallen"),
        ("What is dr. a. meyer's number?", "dr. a. meyer"),
    ):
        assert name in spellings(question)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("web-shop", "webshop"),
        ("Web Shop", "webshop"),
        ("the web_shop repository", "webshop"),
        ("acme/web-shop", "webshop"),
        ("/srv/web-shop/", "webshop"),
        ("project", "project"),
        ("käse-laden", "käseladen"),
        ("", ""),
        ("/", ""),
    ],
)
def test_a_repository_has_one_name_however_it_is_written(text: str, name: str) -> None:
    assert name_of_work(text) == name
