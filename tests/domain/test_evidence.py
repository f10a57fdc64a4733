"""How well episodes bear a statement out, and what of them is only an echo."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.evidence import (
    Evidence,
    account,
    borne_by_others,
    is_quoted,
    is_reworded,
    lexical_support,
    user_says,
)
from memory_butler.domain.sketch import shingle_hashes
from memory_butler.domain.speech import is_question, stems
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust

SERVED = "The user has been allergic to peanuts since childhood"


@pytest.mark.parametrize(
    ("support", "verdict"),
    [(0.9, "supported"), (0.35, "supported"), (0.34, "needs_review"), (0.1, "refused")],
)
def test_the_verdict_follows_the_bounds(support: float, verdict: str) -> None:
    assert Evidence(support, 0.0).verdict(0.35, 0.2) == verdict
    assert Evidence(0.0, support).verdict(0.35, 0.2) == verdict


def test_a_bound_of_nought_refuses_nothing() -> None:
    assert Evidence(0.0, 0.0).verdict(0.0, 0.0) == "supported"
    assert Evidence(0.0, 0.0).verdict(0.35, 0.0) == "needs_review"


@pytest.mark.parametrize(
    ("statement", "text", "share"),
    [
        ("Lactose intolerant", "They are lactose intolerant.", 1.0),
        ("preferred drink: tea", "prefers green tea", 2 / 3),
        ("Owns a yacht", "It rained all day", 0.0),
        ("Trinkt gerne Kaffee", "Ich trinke morgens Kaffee", 2 / 3),
        ("the user is", "the user is", 0.0),
    ],
)
def test_lexical_support_is_the_share_of_telling_words(
    statement: str, text: str, share: float
) -> None:
    assert lexical_support(statement, [stems(text)]) == pytest.approx(share)


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_support_is_a_share_and_grows_with_the_texts(statement: str, texts: list[str]) -> None:
    few = lexical_support(statement, map(stems, texts))
    many = lexical_support(statement, map(stems, [*texts, statement]))
    assert 0.0 <= few <= many <= 1.0


def _sentences(vocabulary: str, least: int) -> st.SearchStrategy[str]:
    words = st.sampled_from(vocabulary.split())
    return st.lists(words, min_size=least, max_size=12).map(" ".join)


@given(
    served=st.lists(_sentences("user likes green tea and rows an old boat", 2), min_size=1),
    own=st.lists(_sentences("yesterday we met Rui in Faro", 1)),
    data=st.data(),
)
def test_whatever_was_served_is_no_evidence_and_all_else_is(
    served: list[str], own: list[str], data: st.DataObject
) -> None:
    """However it is mixed, repeated and shouted; what was said besides stays to the letter."""
    told = frozenset(hash for one in served for hash in shingle_hashes(one))
    shouted = [one.upper() for one in served]
    mixed = data.draw(st.permutations([*served, *shouted, *own]))
    heard = account("".join(f"{one}. " for one in mixed).strip(), told)
    assert heard.own == stems("\n".join(own))
    assert heard.echoes == stems("\n".join(served))


SERVED_HASHES = frozenset(shingle_hashes(SERVED))
PEANUTS = Statement("user", "allergy", "Has been allergic to peanuts since childhood")


def test_a_sentence_that_was_served_is_set_apart() -> None:
    heard = account(f"I went home. {SERVED}. Then I slept.", SERVED_HASHES)
    assert heard.own == stems("I went home. Then I slept.")
    assert heard.echoes == stems(SERVED)
    assert not heard.labelled


@pytest.mark.parametrize("text", ["Home. Tea. Sleep.", "a\nb\n\nc", "", "One long other sentence."])
def test_a_text_without_an_echo_has_none(text: str) -> None:
    for served in (SERVED_HASHES, frozenset()):
        heard = account(text, served)
        assert heard.own == stems(text)
        assert not heard.echoes


def test_a_short_sentence_is_an_echo_only_as_it_was_served() -> None:
    heard = account("Likes tea. Drinks tea. Tea.", frozenset(shingle_hashes("Likes tea")))
    assert heard.echoes == stems("Likes tea")
    assert heard.own == stems("Drinks tea. Tea.")


def test_the_user_is_never_an_echo() -> None:
    """Whatever memory served before: in a transcript, in words trusted as theirs, by their name."""
    for heard in (
        account(f"User: {SERVED}.", SERVED_HASHES),
        account(f"{SERVED}.", SERVED_HASHES, trust=Trust.USER_SAID),
        account(f"{SERVED}.", SERVED_HASHES, speaker="Rui"),
        account(f"The user asked:\n- {SERVED}.\nOutcome: noted", SERVED_HASHES),
    ):
        assert not heard.echoes
        assert user_says(heard, PEANUTS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"User: what am I allergic to?\nAssistant: {SERVED}.\nUser: thanks", False),
        (f"User: allergies\nAssistant: {SERVED}.\nUser: Yes, peanuts, since my childhood", True),
        (
            f"User: Which nuts?\nAssistant: {SERVED}.\nUser: does it say peanuts since childhood?",
            False,
        ),
        ("User: I have been allergic to peanuts since childhood\nAssistant: Noted.", True),
        ("User: no peanuts for me, remember\nAssistant: Noted.", False),
        (f"Assistant: {SERVED}.", False),
        ("Tool: Allergic to peanuts since childhood", False),
    ],
)
def test_the_user_testifies_by_saying_it_and_not_by_asking(text: str, said: bool) -> None:
    assert user_says(account(text, SERVED_HASHES), PEANUTS) is said


def test_what_memory_knows_is_no_news_from_an_assistant_served_or_not() -> None:
    heard = account(f"Assistant: From my notes: {SERVED}.", (), known=SERVED_HASHES)
    assert heard.echoes == stems(SERVED)
    assert not borne_by_others([heard], PEANUTS)
    unlabelled = account(f"{SERVED}.", (), known=SERVED_HASHES)
    assert not unlabelled.echoes  # nobody knows who speaks: it may be the user


def test_another_value_in_the_words_of_a_known_one_is_news() -> None:
    """An assistant notes a change in the words that memory has; the user said what is new."""
    known = frozenset(shingle_hashes("The cheese they like best is a blue one from the market"))
    text = (
        "User: cheese of the moment: a smoked cheddar\n"
        "Assistant: Noted: The cheese they like best is a smoked cheddar from the market."
    )
    changed = Statement("user", "cheese", "The cheese they like best is a smoked cheddar")
    assert user_says(account(text, (), known=known), changed)
    wrong = Statement("user", "cheese", "The cheese they like best is a stilton")
    assert not user_says(account(text, (), known=known), wrong)


def test_a_tool_may_bring_news_beside_an_echo() -> None:
    text = f"Assistant: {SERVED}.\nTool: The parcel arrives on 24 January"
    parcel = Statement("parcel", "arrival", "The parcel arrives on 24 January")
    assert borne_by_others([account(text, SERVED_HASHES)], parcel)


@pytest.mark.parametrize(
    ("predicate", "content", "nearness", "reworded"),
    [
        ("pet", "Owns a dog named Rex", 0.88, True),
        ("pet", "Owns a dog named Rex", 0.7, False),  # too far
        ("pet", "Has no dog called Rex", 0.9, False),  # the contrary
        ("dog", "Has a dog called Tom", 0.9, False),  # another value of the property
        ("dog", "The user has a dog called Rex.", 0.9, True),
    ],
)
def test_what_is_near_is_a_rewording_unless_it_is_news(
    predicate: str, content: str, nearness: float, reworded: bool
) -> None:
    known = Statement("user", "dog", "Has a dog called Rex")
    assert is_reworded(known, Statement("user", predicate, content), nearness) is reworded


def test_a_rule_is_reworded_like_anything_else() -> None:
    known, stated = (Statement("", "", text) for text in ("Ask before booking", "Book, but ask"))
    assert is_reworded(known, stated, 0.8)


def test_what_has_a_name_of_its_own_is_not_reworded() -> None:
    def run(day: str, who: str) -> Statement:
        content = f"On {day} {who} does the school run for both families"
        return Statement(f"{day} school run", "driver", content)

    assert not is_reworded(run("Monday", "Bob"), run("Wednesday", "Ida"), 0.9)
    assert is_reworded(run("Monday", "Bob"), Statement("Bob", "run", "Monday's is Bob's"), 0.9)


def test_an_echo_with_a_colon_is_one() -> None:
    served = shingle_hashes("On call on Sunday nights: Ida")
    told = account("User: Type the rota.\nAssistant: Done. On call on Sunday nights: Ida.", served)
    assert "ida" in told.echoes
    assert "ida" not in told.others
    other = account("User: Type the rota.\nAssistant: On call on Sunday nights: Bob.", served)
    assert "bob" in other.others
    after = account("Assistant: By my notes: on call on Sunday nights: Ida.", served)
    assert "ida" in after.echoes


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_stands_in_an_echo_is_quoted(statement: str, more: str) -> None:
    echoes = stems(f"{more}\n{statement}")
    assert is_quoted(statement, echoes) or not stems(statement)
    assert not is_quoted(statement, frozenset())


def test_a_time_that_the_user_names_is_first_hand_though_others_were_told_in_those_words() -> None:
    known = (
        *shingle_hashes("Felicity is picked up at 15:25 on school days"),
        *shingle_hashes("Matteo is picked up at 14:45 on school days"),
    )
    told = "Noted: Matteo is picked up at 15:25 on school days."
    text = f"User: pick-up for Matteo is 15:25 from monday on, no longer 14:45\nAssistant: {told}"
    moved = Statement("Matteo", "pick_up", "Matteo is picked up at 15:25 on school days")
    assert user_says(account(text, (), known=known), moved)
    other = Statement("Matteo", "pick_up", "Matteo is picked up at 16:10 on school days")
    assert not user_says(account(text, (), known=known), other)


@pytest.mark.parametrize(
    ("said", "stated", "users"),
    [
        ("use node 22 from now on", ("project", "node_version", "The project uses Node 22"), True),
        ("use node 20 from now on", ("project", "node_version", "The project uses Node 22"), False),
        ("the fix took 22 minutes", ("project", "node_version", "The project uses Node 22"), False),
        ("port 80 for the proxy", ("proxy", "port", "The proxy listens on port 80"), True),
        ("Matteo is 18 now", ("Matteo", "trip", "Matteo's class trip is on 18 February"), False),
    ],
)
def test_a_short_number_is_the_users_where_they_name_what_it_is_of(
    said: str, stated: tuple[str, str, str], users: bool
) -> None:
    assert user_says(account(f"User: {said}\nAssistant: Noted.", ()), Statement(*stated)) is users


@pytest.mark.parametrize(
    ("said", "users"),
    [
        ("before i forget, the git server gets backed up hourly", True),
        ("the git server was slow today", False),
        ("the git server no longer gets backed up hourly", False),
        ("the git server restarts hourly", False),
        ("the printer prints hourly", False),
        ("is the git server backed up hourly?", False),
    ],
)
def test_half_of_a_value_is_the_users_in_a_sentence_with_its_subject(
    said: str, users: bool
) -> None:
    stated = Statement("the git server", "backup", "The backup of the git server runs hourly")
    assert user_says(account(f"User: {said}\nAssistant: Noted.", ()), stated) is users


@pytest.mark.parametrize(
    ("served", "repeated", "news"),
    [
        (
            "図書室の休館日は火曜日",
            "図書室の休館日は火曜日です。",
            "図書室の駐車場は裏にあります。",
        ),
        ("地下室的钥匙在红色的盒子里", "地下室的钥匙在红色的盒子里。", "明天下午有人来修空调。"),
        ("도서관은 화요일에 쉽니다", "도서관은 화요일에 쉽니다.", "주차장은 건물 뒤에 있습니다."),
    ],
)
def test_an_echo_is_known_again_where_a_script_parts_no_words(
    served: str, repeated: str, news: str
) -> None:
    heard = account(f"Assistant: {repeated} {news}", shingle_hashes(served))
    assert is_quoted(served, heard.echoes)
    assert stems(news) <= heard.others
    assert not account(f"User: {repeated}", shingle_hashes(served)).echoes


def test_another_value_in_an_echo_without_spaces_is_news() -> None:
    known = shingle_hashes("私たちの町の大きな図書館の休館日は毎週火曜日と祝日")
    text = "Assistant: 私たちの町の大きな図書館の休館日は毎週水曜日と祝日。"
    assert stems("水曜") <= account(text, (), known=known).others


def test_a_particle_is_no_word_of_a_value() -> None:
    told = "Assistant: From my notes: Noemi is allergic to cashews: her lips swell up."
    text = f"{told}\nUser: thanks. By the way, pick-up for Noemi is later from Monday on"
    swollen = Statement(
        "Noemi", "allergy_cashews", "Noemi is allergic to cashews: her lips swell up"
    )
    known = shingle_hashes("Noemi is allergic to cashews: her lips swell up")
    assert not user_says(account(text, (), known=known), swollen)


def test_small_words_of_another_language_are_no_words_of_a_value() -> None:
    served = "Der Schlüssel von der Laube ist in der roten Dose"
    key = Statement("Laube", "Schlüssel", served)
    text = "User: Wo ist der Schlüssel?\nAssistant: {}.\nUser: {}"
    thanks = text.format(served, "Ist gut, danke, die Laube war von der Familie")
    again = text.format(served, "Ja, in der roten Dose")
    assert not user_says(account(thanks, shingle_hashes(served)), key)
    assert user_says(account(again, shingle_hashes(served)), key)


@pytest.mark.parametrize("text", ["Nutzerin: {0}\nAssistent: Gut.", "Usuario: {0}\nAsistente: Sí."])
def test_labels_of_other_languages_tell_who_speaks(text: str) -> None:
    heard = account(text.format(SERVED), SERVED_HASHES)
    assert heard.labelled
    assert not heard.echoes


def test_what_takes_the_user_two_sentences_is_first_hand() -> None:
    known = shingle_hashes("Noemi has a peanut allergy since childhood")
    text = (
        "User: Matteo's class visits the lighthouse on Tuesday 18 February. Needs a packed lunch\n"
        "Assistant: Right. Noemi has a peanut allergy since childhood."
    )
    trip = Statement(
        "Matteo", "class_trip_lighthouse", "The class trip is on 18 February, packed lunch needed"
    )
    assert user_says(account(text, (), known=known), trip)


@pytest.mark.parametrize(
    ("sentence", "asks"),
    [
        ("when is the bin emptied", True),
        ("when you book trains, give her 15 minutes to change", False),
        ("where we keep the drill: under the stairs", False),
        ("do you know my shoe size", True),
        ("do water the plants on Mondays", False),
        ("is Noemi picked up today", True),
        ("have dinner ready at six", False),
        ("how many eggs do we need", True),
        ("wann kommt der Klempner", True),
        ("was hat Noemi bestellt", True),
        ("welche Größe hat das Regal", True),
        ("wie besprochen: der Schlüssel liegt im Regal", False),
        ("muss ich morgens nehmen", False),
        ("休館日はいつですか。", True),
        ("休館日は？", True),
        ("图书馆周四关门吗", True),
        ("休館日は火曜日です。", False),
    ],
)
def test_a_question_is_told_from_a_clause_and_a_request(sentence: str, asks: bool) -> None:
    assert is_question(sentence) is asks


def test_where_a_script_parts_no_words_pairs_of_letters_are_compared() -> None:
    heard = account("User: 来月から休館日を火曜日に変えます。\nAssistant: はい。", ())
    assert user_says(heard, Statement("図書室", "closed", "図書室の休館日は火曜日"))
    assert not user_says(heard, Statement("図書室", "phone", "図書室の電話は二階"))


def test_an_unrelated_word_in_another_conversation_confirms_nothing() -> None:
    heard = account("User: sent friends to Noemi's house, they found it\nAssistant: Good.", ())
    size = Statement("Matteo", "shoe_size", "Matteo's shoe size is 44")
    assert not user_says(heard, size)


@pytest.mark.parametrize(
    ("speaker", "users"),
    [
        ("Assistent", False),
        (" assistante ", False),
        ("Asistente", False),
        ("AI", False),
        ("Werkzeug", False),
        ("web page", False),
        ("Nutzerin", True),
        ("Rui", True),
        ("Assistent von Rui", True),
        ("", True),
    ],
)
def test_who_says_all_of_an_episode_is_known_in_other_languages(speaker: str, users: bool) -> None:
    told = account("Ana mag Katzen.", frozenset(), speaker=speaker)
    assert user_says(told, Statement("Ana", "mag", "Katzen")) is users
