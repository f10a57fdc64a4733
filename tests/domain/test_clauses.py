"""What a prompt asks for one by one."""

import pytest

from memory_butler.domain.clauses import clauses

pytestmark = pytest.mark.requirement("SRCH-01")


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        (
            "Who is our plumber, and when is the school play?",
            ["Who is our plumber", "when is the school play?"],
        ),
        (
            "Who is our vet? Also, what does Ida take?",
            ["Who is our vet?", "what does Ida take?"],
        ),
        (
            "Wo ist der Schlüssel und wann kommt der Klempner?",
            ["Wo ist der Schlüssel", "wann kommt der Klempner?"],
        ),
        (
            "The bus was late again. Does Ida eat nuts and is Ben away on Friday?",
            ["The bus was late again.", "Does Ida eat nuts", "is Ben away on Friday?"],
        ),
        # A greeting beside it is left out.
        ("Good morning! Who picks up Ben today?", ["Who picks up Ben today?"]),
        ("Who picks up Ben today? Thanks!", ["Who picks up Ben today?"]),
        # What points back stays with what it points to.
        (
            "It rains again today. Where does Ida live and when does she come?",
            ["It rains again today.", "Where does Ida live when does she come?"],
        ),
        # A full stop ends no sentence behind a title or a number.
        (
            "Ring Mrs. Novak at 5 p.m. sharp. Where is the key?",
            ["Ring Mrs. Novak at 5 p.m. sharp.", "Where is the key?"],
        ),
        # A line ends what is asked, unless it was full.
        (
            "rent due date\nnumber of the landlord\n\n- closing days of July",
            ["rent due date", "number of the landlord", "- closing days of July"],
        ),
        (
            "The oven makes a noise since the movers carried it over to the\nother wall inside. "
            "Who is our vet?",
            [
                "The oven makes a noise since the movers carried it over to the other wall inside.",
                "Who is our vet?",
            ],
        ),
        (
            "What is 12 x 14, and tell me when the rent is due",
            ["What is 12 x 14", "tell me when the rent is due"],
        ),
        (
            "Who sang Thriller? Who sang Thriller? Who is our vet?",
            ["Who sang Thriller?", "Who is our vet?"],
        ),
        ("btw who is our vet? PS: where is the key?", ["who is our vet?", "where is the key?"]),
        # The material of a task stays with it, as do lines of code with each other.
        (
            "Where is the key? Now translate this: Who are you? When do you come?",
            ["Where is the key?", "translate this: Who are you? When do you come?"],
        ),
        (
            "x = {}\nfor i in range(3):\n    x[i] = show(i)\nWhat does it print? Who is our vet?",
            ["x = {} for i in range(3): x[i] = show(i) What does it print?", "Who is our vet?"],
        ),
    ],
)
def test_a_prompt_that_asks_for_several_things_is_parted(prompt: str, parts: list[str]) -> None:
    assert clauses(prompt) == parts


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "Who is our plumber?",
        "Where does Ida live and what is her number?",
        "Where and when can I get fresh mackerel?",
        "Which bag is red and is heavy?",
        "It's the 1st today. What do we have to check?",
        "Heute ist der 3. Mai. Wer bringt den Müll hinaus?",
        "Where did we put the deeds, and how long ago?",
        "Wo war das Fest, und seit wann genau?",
        "I know what you did and why",
        "Good morning! Thank you.",
        "Call Mrs. Novak at 5 p.m. sharp today",
        # The material of a task asks nothing.
        "Translate into Greek: Where is the station? When does the train leave?",
        "Please proofread these lines.\n\nWho are you? When is you coming?",
    ],
)
def test_a_prompt_that_asks_for_one_thing_is_whole(prompt: str) -> None:
    assert clauses(prompt) == []


def test_a_long_prompt_has_few_parts() -> None:
    assert len(clauses(" ".join(f"Where is thing {n}?" for n in range(12)))) == 4
    told = "The bus was late. It rained all day. My shoes are wet. Lunch was good. "
    assert clauses(told + "Where is the key?")[-1] == "Where is the key?"
    log = "".join(f"10:14:0{n} the pool has given up\n" for n in range(6))
    assert clauses(f"{log}Where is the key?")[-1] == "Where is the key?"
    assert clauses("Where is the key to the shed? " * 100) == ["Where is the key to the shed?"]


MATERIAL = "Backups are made every night. They hold all tables, and the keys beside them. " * 20


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        (f"Fill in Ben's passport details\n\n{MATERIAL}", ["Fill in Ben's passport details"]),
        (f"{MATERIAL}\n\nWho is our vet", ["Who is our vet"]),
        (f"Who is our vet? {MATERIAL}", ["Who is our vet?"]),
        (f"{MATERIAL} And who is our vet?", ["who is our vet?"]),
        (f"Who is our vet? And where is the key?\n{MATERIAL}\nThanks!", None),
        (f"Summarise this text\n{MATERIAL}\nWho is our vet?", []),
        (f"def mend(self):\n{MATERIAL}\n    return self.vet(cat)", []),
        (MATERIAL, []),
    ],
)
def test_of_a_long_prompt_its_ends_are_asked(prompt: str, parts: list[str] | None) -> None:
    expected = ["Who is our vet?", "where is the key?"] if parts is None else parts
    assert clauses(prompt) == expected
