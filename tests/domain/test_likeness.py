"""Whether two facts repeat or contradict each other, and the quantities that tell."""

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_butler.domain.likeness import Likeness, compare, one_more, says_less, telling_words
from memory_butler.domain.properties import is_vital
from memory_butler.domain.quantities import Quantity, agree, disagree, quantities
from memory_butler.domain.statements import Statement, about_one

# As near as two facts on one thing are.
NEAR = 0.85


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1.83 m tall", "183 cm"),
        ("18 °c", "about 64 °f"),
        ("15 metres", "roughly 49 feet"),
        ("90 seconds", "after a minute and a half"),
        ("18 months", "one and a half years"),
        ("52,000 euros a year", "€52k a year"),
        ("2027-03-09", "9 march 2027"),
        ("march 9, 2027", "am 9. marz 2027"),
        ("three kids", "3 children"),
        ("0,5 g", "500 mg"),
        ("75 mikrogramm", "75 μg"),
        ("um 8 uhr", "at 8:00"),
        ("um 14.30 uhr", "at 14:30"),
        ("in 2 wochen", "14 tage"),
    ],
)
def test_one_amount_is_known_in_two_notations(first: str, second: str) -> None:
    assert quantities(first)
    assert agree(quantities(first), quantities(second))
    assert not disagree(quantities(first), quantities(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("12 february", "born on 2 december"),
        ("port 8080", "port 9443"),
        ("since 1974", "since 1991"),
        ("at 14:15", "at 15:14"),
        ("python 3.9", "python 3.11"),
        ("34 years", "41 years"),
        ("2,5 mg", "5 mg"),
        ("um 8 uhr", "um 9 uhr"),
    ],
)
def test_two_amounts_of_a_kind_disagree(first: str, second: str) -> None:
    assert disagree(quantities(first), quantities(second))
    assert not agree(quantities(first), quantities(second))


@given(st.text(alphabet="0123456789.,:-€$%°cfk m", max_size=40))
@example("1.2." + "9" * 5_000)
@example("-1.2.3")
@example("9" * 6_000 + " °f")
def test_no_text_makes_the_reader_raise(text: str) -> None:
    found = quantities(text)
    assert disagree(found, found) is False


def test_amounts_of_different_kinds_neither_agree_nor_disagree() -> None:
    weekly, fee = quantities("3 times a week"), quantities("39 euros")
    assert not disagree(weekly, fee)
    assert not agree(weekly, fee)


@pytest.mark.parametrize(
    ("first", "second", "one"),
    [
        ("user", "the user", True),
        ("Ana", "Ana Silva", True),
        ("Zoë L.", "Zoe Lindqvist", True),
        ("Lamp (hall)", "hall lamp", True),
        ("Heron", "the Heron service", True),
        ("TinyLedger", "tiny-ledger", True),
        ("Ana", "Ana's sister", False),
        ("Ana Silva", "Ana Costa", False),
        ("old laptop", "new laptop", False),
        ("user", "guest", False),
        ("room 1", "room 12", False),
        ("web-1", "web-11", False),
        ("Kafka", "Kafka UI", False),
    ],
)
def test_spellings_of_a_subject(first: str, second: str, one: bool) -> None:
    statements = [Statement(subject, "age", "34") for subject in (first, second)]
    assert about_one(*statements) is one
    assert about_one(*reversed(statements)) is one


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (("drink", "Likes tea with milk"), ("favourite", "Likes milk with tea"), "duplicate"),
        (("height", "1.83 m"), ("body_height", "183 cm"), "duplicate"),
        (("hand", "is left-handed"), ("handedness", "is right-handed"), "contradiction"),
        (("smoking", "smokes a pipe"), ("smokes", "does not smoke a pipe"), "contradiction"),
        (("home", "lives in Porto"), ("lives_in", "lives in Oslo"), "contradiction"),
        (("birthday", "12 March"), ("date_of_birth", "21 March"), "contradiction"),
        (("founded", "set up in 1974"), ("established", "set up in 1991"), "contradiction"),
        (("job", "Works as a nurse"), ("school", "Goes to the harbour school"), None),
        (("city", "Lives in Porto"), ("birthday", "Born on 3 May 1990"), None),
        (("job", "Works as a nurse"), ("employer", "Works for Nordwind"), None),
        (("marital_status", "Married"), ("husband", "Tom Berg"), None),
        (("timezone", "Europe/Lisbon"), ("standup_time", "Stands at nine"), None),
        (("city", "Porto"), ("venue", "Congress centre by the river"), None),
        (("home", "Lives in Porto"), ("kept", "In the blue drawer"), None),
        (("location", "Town hall"), ("venue", "Congress centre"), "contradiction"),
        (("employer", "Works at Siemens"), ("works_at", "Works at Bosch"), "contradiction"),
        (
            ("employer", "Employer is Siemens AG"),
            ("works_for", "Works for Bosch since March"),
            "contradiction",
        ),
        (("employer", "Works at Siemens"), ("works_with", "Works with Petra"), None),
        (("city", "Porto, near the sea"), ("lives_in", "Porto, up the hill"), None),
        (("phone", "030 4412 7751"), ("phone_number", "It is 030 4412 7715"), "contradiction"),
        (("phone", "030 4412 7751"), ("phone_number", "It is 030 4412 7757"), "contradiction"),
        (("phone", "030 4412 7751"), ("phone_office", "030 4412 7860"), None),
        (("phone", "030 4412 7751"), ("phone_office", "030 4412 7752"), None),
        (("phone", "030 4412 7751"), ("phone_number", "It is +49 30 4412 7751"), None),
        (("hobby", "plays the cello"), ("pastime", "collects stamps"), None),
        # A mother in law is no mother, and coats are no shoes, however few letters the words have.
        (("mother", "Is called Ada Sorel"), ("mother_in_law", "Is called Ines Brandt"), None),
        (("name", "Is called Ada Brandt"), ("maiden_name", "Was born as Ada Sorel"), None),
        (("husband", "Is David Brandt"), ("ex_husband", "Is Karl Weber"), None),
        (("shoe_size", "wears shoe size 40"), ("coat_size", "wears coats in size S"), None),
        (("shoe_size", "wears shoe size 40"), ("size_of_shoes", "is a 38"), "contradiction"),
        # A dish and what is not liked are two things; smoking is one.
        (("favourite_dish", "loves fish soup"), ("dislikes", "cannot eat chilli"), None),
        (("smokes", "ten a day"), ("smoking", "does not smoke"), "contradiction"),
        (("favourite_dish", "loves fish soup"), ("dislikes", "cannot eat fish"), "contradiction"),
        (("home", "once lived in Porto"), ("lives_in", "lives in Oslo"), None),
        (("port", "Uses 7001 once the proxy is up"), ("port", "Uses 7002"), "contradiction"),
        (("hora", "La piscina abre antes de las 8"), ("hora", "Abre a las 9"), "contradiction"),
        (("home", "lived in Porto until 2019"), ("lives_in", "lives in Oslo"), None),
        (("job", "nurse"), ("work", "nurse at the harbour clinic on the night shift"), None),
        (("deadline", "no later than 3 May"), ("due", "due on 3 May"), "duplicate"),
        (
            ("drink", "Drinks tea with lemon"),
            ("drink", "Drinks tea without lemon"),
            "contradiction",
        ),
        (("Tee", "trinkt Tee mit Zucker"), ("Tee", "trinkt Tee ohne Zucker"), "contradiction"),
        (("Besuch", "hat Zeit"), ("Besuch", "hat niemals Zeit"), "contradiction"),
        (("Dosis", "nimmt 47,5 mg"), ("dose", "47.5 mg"), "duplicate"),
        (("Ofen", "heizt den Ofen morgens"), ("Ofen", "heizt den Ofen abends"), "contradiction"),
        (("Beruf", "arbeitet als Bäcker"), ("Beruf", "ist Tischler"), "contradiction"),
        (
            ("rate", "takes 45 EUR an hour"),
            ("hourly_rate", "takes 48 EUR an hour"),
            "contradiction",
        ),
        (("rate", "takes 45 EUR an hour"), ("work_rate", "takes 48 EUR by day"), None),
        (
            ("start", "starts on 2026-11-16"),
            ("start_date", "starts on 2026-11-23"),
            "contradiction",
        ),
        (("grpc_port", "port 7070 for gRPC"), ("metrics_port", "port 9464 for metrics"), None),
        (("db_port", "the DB has port 7070, not 7071"), ("ui_port", "the UI has port 9464"), None),
        # Two of one property: nobody says that one replaces the other.
        (("api_port", "port 7070"), ("server_port", "port 9464"), None),
        (("email", "Email is jo@home.test"), ("email_work", "Work email is jo@work.test"), None),
        (("email_work", "Email is jo@work.test"), ("email", "Email is jo@home.test"), None),
        (("phone", "030 4412 7751"), ("phone_office", "0151 887 7752"), None),
        (("phone", "Mobile 030 4412"), ("phone_mobile", "0151 8877"), "contradiction"),
        (("employer", "Works at Bosch"), ("second_employer", "Works at the Mill"), None),
        (("school", "Lindenschule"), ("music_school", "Musikschule Nord"), None),
        (("city", "Lives in Kassel"), ("birth_city", "Born in Gera"), None),
        (("opening_time", "Opens at 9"), ("closing_time", "Closes at 18"), None),
        (("rent", "950 EUR"), ("garage_rent", "60 EUR"), None),
        # The same one by a longer name.
        (("email", "Email is jo@home.test"), ("email_address", "jo@work.test"), "contradiction"),
        (("school", "Lindenschule"), ("school_name", "Waldschule"), "contradiction"),
        (("employer", "Works at Bosch"), ("current_employer", "At Siemens"), "contradiction"),
        (("rent", "950 EUR"), ("monthly_rent", "990 EUR"), "contradiction"),
        (("shoe_size", "size 43"), ("size_of_shoes", "size 44"), "contradiction"),
        (
            ("visit_7_december", "Visits Eirwen on 7 December at 8:10"),
            ("visit_25_december", "Visits Eirwen on 25 December at 13:05"),
            None,
        ),
        # What is new, told with what it was.
        (
            ("reviewer", "Reviews go to Solveig"),
            ("code_review", "Reviews now go to Mattis instead of Solveig"),
            "contradiction",
        ),
        (
            ("default_branch", "The default branch is master"),
            ("main_branch", "The default branch is now main; master was deleted"),
            "contradiction",
        ),
        (
            ("medication", "Takes metformin"),
            ("medication_heart", "Now takes metformin and ramipril"),
            "duplicate",
        ),
        # One says which it is; and a package manager is nobody's boss.
        (("http_port", "The HTTP port is 7070"), ("database_port", "Postgres on port 9464"), None),
        (("package_manager", "Uses npm"), ("state_management", "State is kept in Redux"), None),
        (("http_port", "The API is at port 7070"), ("api_port", "port 9464"), "contradiction"),
        # What is denied beside what is said, of something else.
        (
            ("login", "Login uses sessions in Redis; JWT was dropped as it could not be revoked"),
            ("redis", "Redis keeps the sessions, on port 6380"),
            None,
        ),
        (
            ("login", "Login uses tokens; Redis does not keep the sessions"),
            ("redis", "Redis keeps the sessions, on port 6380"),
            "contradiction",
        ),
        # The new one, in other languages too; and one's first language by another word.
        (("arbeitgeber", "Siemens"), ("neuer_arbeitgeber", "Bosch"), "contradiction"),
        (("ciudad", "Vive en Madrid"), ("nueva_ciudad", "Vive en Sevilla"), "contradiction"),
        (("ville", "Habite à Lyon"), ("nouvelle_ville", "Habite à Nantes"), "contradiction"),
        (("wohnort", "Wohnt in Köln"), ("jetziger_wohnort", "Wohnt in Bonn"), "contradiction"),
        (("native_language", "It is Slovak"), ("mother_tongue", "It is Czech"), "contradiction"),
        (("first_language", "It is Slovak"), ("native_language", "It is Czech"), "contradiction"),
        (("language", "Speaks English"), ("native_language", "It is Czech"), None),
        (("weight", "Weighs 80 kg"), ("body_weight", "Weighs 74 kg"), "contradiction"),
        (("birthday", "Born on 4 June"), ("birth_day", "Born on 5 June"), "contradiction"),
        # What is denied behind a label or a conjunction is what is said; a car is no "car".
        (("food_allergy", "Allergic to nuts"), ("allergies", "Allergies: none"), "contradiction"),
        (("children", "Has two children"), ("kids", "Children: none"), "contradiction"),
        (("sport", "Goes swimming"), ("sports", "Since May she does not swim"), "contradiction"),
        (("car", "The car is insured"), ("car_policy", "The car has no cover"), "contradiction"),
        # What is told more fully is not told otherwise, whatever is new or now in it.
        (
            ("training", "Trains for a run"),
            ("plan", "Trains for a run with a new coach"),
            "duplicate",
        ),
        (("team", "Leads platforms"), ("team_size", "Leads platforms, now a team of nine"), None),
        (
            ("tests", "Tests run with pytest"),
            ("ci", "Tests run with pytest in a new CI"),
            "duplicate",
        ),
        (("db", "The DB is MySQL"), ("dbs", "The DB MySQL was replaced"), "contradiction"),
        # What has changed, under another name.
        (
            ("commute", "Takes the tram to the office"),
            ("commute_mode", "Now takes the ferry to the office"),
            "contradiction",
        ),
        (
            ("supplier", "Coffee beans come from Brandt Brothers"),
            ("coffee_source", "Switched the coffee supplier to Aroma"),
            "contradiction",
        ),
        (
            ("banco", "La cuenta está en Banco Norte"),
            ("banco_actual", "La cuenta está ahora en Caja Sur"),
            "contradiction",
        ),
        (
            ("boîtier", "Le code du boîtier est 5512"),
            ("boîtier_garage", "Le nouveau code du boîtier est 9037"),
            "contradiction",
        ),
        (
            ("Zahnarzt", "geht zu Dr. Petersen"),
            ("Zahnarztpraxis", "geht jetzt zu Frau Yilmaz"),
            "contradiction",
        ),
        (
            ("garden", "Grows tomatoes and beans behind the shed"),
            ("garden_pond", "Now keeps two ducks on the pond"),
            None,
        ),
        (
            ("music", "Plays the cello in a quartet on Fridays"),
            ("music_choir", "Now also sings bass with the choir on Fridays"),
            None,
        ),
        # Two that hold side by side, and what is new by its name alone.
        (
            ("medication_diabetes", "Takes Metformin daily"),
            ("medication_heart", "Now takes Ramipril daily"),
            None,
        ),
        (
            ("bike_road", "The bike is a red Koga"),
            ("bike_mountain", "The bike is now a blue Trek"),
            None,
        ),
        (
            ("trip", "Flew to Lisbon with Anna"),
            ("trip_autumn", "Flew to New York with Anna"),
            None,
        ),
        (
            ("shop", "Sells bread and cakes from the oven"),
            ("shop_window", "Sells flowers and cards by the window"),
            None,
        ),
    ],
)
def test_what_two_facts_of_one_subject_are_to_each_other(
    first: tuple[str, str], second: tuple[str, str], kind: Likeness | None
) -> None:
    assert compare(Statement("user", *first), Statement("user", *second), NEAR) == kind


def test_a_predicate_may_repeat_what_its_subject_is() -> None:
    def related(first: str, second: str, subject: str = "web-shop") -> Likeness | None:
        one = Statement(subject, first, "It is Elmwood")
        return compare(one, Statement(subject, second, "It is Oakville"), NEAR)

    assert related("owner", "project_owner") == "contradiction"
    assert related("app_name", "name") == "contradiction"
    assert related("app_name", "server_name") is None
    # Of the user it says which one.
    assert related("name", "app_name", "user") is None


def test_a_compound_with_non_is_no_negation() -> None:
    assert not Statement("pan", "coat", "a non-stick pan").is_negated
    assert Statement("padella", "manico", "non ha il manico").is_negated


def test_what_is_not_near_or_of_another_subject_is_not_compared() -> None:
    left, right = ("hand", "is left-handed"), ("hand", "is right-handed")
    assert compare(Statement("user", *left), Statement("user", *right), 0.5) is None
    assert compare(Statement("Ana", *left), Statement("Rui", *right), NEAR) is None


def test_a_property_of_one_value_is_compared_from_further_off() -> None:
    known = Statement("user", "employer", "Employer is Siemens AG")
    stated = Statement("user", "works_at", "Works at Bosch since March")
    assert compare(known, stated, 0.5) == "contradiction"
    assert compare(known, stated, 0.4) is None


def test_four_times_as_many_words_do_not_take_many_times_as_long() -> None:
    """Consolidation compares them while a transaction is open."""

    def statement(many: int, letter: str) -> Statement:
        words = (format(one, "020b").translate({48: "a", 49: letter}) for one in range(many))
        return Statement("user", "allergy", " ".join(words))

    def seconds(many: int) -> float:
        known, stated = statement(many, "b"), statement(many, "c")
        began = time.thread_time()
        one_more(known, stated, NEAR)
        says_less(known, stated)
        telling_words(known, stated)
        return time.thread_time() - began

    seconds(500)
    assert min(seconds(4_000) for _ in range(3)) < 8 * max(seconds(1_000) for _ in range(3))


@pytest.mark.parametrize("compared", [agree, disagree])
def test_twice_as_many_amounts_take_about_twice_as_long(
    compared: Callable[[list[Quantity], list[Quantity]], bool],
) -> None:
    def seconds(many: int) -> float:
        first = [Quantity("number", float(one)) for one in range(many)]
        second = [Quantity("number", float(one)) for one in reversed(range(many))]
        began = time.thread_time()
        compared(first, second)
        return time.thread_time() - began

    seconds(1_000)
    assert min(seconds(8_000) for _ in range(3)) < 4 * max(seconds(4_000) for _ in range(3))


@given(st.lists(st.floats(-1e6, 1e6), max_size=20), st.lists(st.floats(-1e6, 1e6), max_size=20))
def test_amounts_are_looked_up_as_if_each_pair_were_compared(
    one: list[float], other: list[float]
) -> None:
    first = [Quantity("length", value) for value in one]
    second = [Quantity("length", value) for value in (*other, *(1.01 * value for value in one))]
    each = all(any(a.same_as(b) for b in second) for a in first)
    assert agree(first, second) == (each and all(any(a.same_as(b) for a in first) for b in second))


@pytest.mark.parametrize(
    ("predicate", "content", "vital"),
    [
        ("allergy", "Nuts", True),
        ("food_allergy", "Nuts", True),
        ("Unverträglichkeit", "Laktose", True),
        ("avoids", "Es alérgica a las nueces", True),
        ("morning", "Takes two tablets of her medication", True),
        ("blood_type", "0 negative", True),
        ("emergency_contact", "Tom", True),
        ("drink", "Likes tea", False),
        ("watched", "A film about a smart cat", False),
        ("plays", "Plasma physics quiz", False),
    ],
)
def test_what_may_cost_somebody_their_health_is_vital(
    predicate: str, content: str, vital: bool
) -> None:
    assert is_vital(Statement("Lena", predicate, content)) is vital
