"""How a prompt is put: what is a question, a task, a greeting, a sentence, a name or a code."""

import pytest

from memory_butler.domain.prompts import (
    codes_in,
    is_code,
    is_general,
    is_personal,
    is_pleasantry,
    is_statement,
    is_task,
    names_in,
)

pytestmark = [pytest.mark.requirement("SRCH-01")]


@pytest.mark.parametrize(
    "text",
    [
        "The bus was late again this morning.",
        "I slept badly",
        "we had leek soup for lunch",
        "Ida is coming to dinner on Friday",
        "I’ve had three cups of coffee already",
        "Somebody parked a pink scooter in front of the bakery",
        "Bram has dropped the last good cup",
        "The coffee at the station tastes like cardboard.",
        "I can't wait for the holidays",
        "We can't complain about the weather",
        "Ich habe schlecht geschlafen",
        "Der Bus war heute wieder zu spät",
        "Unser Nachbar hat sich einen Hund gekauft",
        "J'ai mal dormi cette nuit",
        "Le train était encore en retard",
        "El autobús llegó tarde otra vez.",
        "Hemos dormido muy mal",
        "Il treno era in ritardo",
        "O ônibus estava atrasado de novo",
    ],
)
def test_statements(text: str) -> None:
    assert is_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "Why was the bus late?",
        "the bus was late, wasn't it?",
        "is the bus late",
        "Book a table for Ida, who is vegan",
        "Refill the prescription for the inhaler.",
        "Remind me what was wrong with the boiler",
        "I need the number of the plumber",
        "I'd like to know who has the key",
        "The pharmacist asks what Ida takes",
        "They need to know her blood group",
        "Translate: the bus was late",
        "the key of the shed",
        "the kids' school lunch",
        "dentist appointment Ida",
        "so what is the wifi password",
        "ok so where is the key",
        "à quelle heure est le train",
        "c'est quoi le code du portail",
        "auf welchem Konto ist die Miete",
        "a qué hora es la cita",
        "me puedes decir cuándo es la cita",
        "l'appuntamento è quando",
        "a chave está onde",
        "the kids have football today? thanks",
        "Ida is coming tomorrow?!",
        "i forgot the wifi password",
        "i can't remember the door code",
        "I'm looking for the key of the shed",
        "I still need the plumber's number",
        "ich suche den Schlüssel vom Keller",
        "ich weiß nicht mehr, ob er kommt",
        "j'ai besoin du numéro du plombier",
        "no sé dónde está la llave",
        "ho bisogno del numero",
        "preciso do número da médica",
        "We are up at the hut and the tablet won't go online",
        "I’m standing at the gate and can’t get in",
        "The portal cannot read the number",
        "find where the invoice was saved",
        "list everything that was decided",
        "check whether the backup was done",
        "make sure Ida has her pen",
        "Remember that Ida is vegan",
        "Zahnarzt am Freitag",
        "to do list for the move",
        "hotel em São Paulo",
        "green bin collection day",
        "gift for Ahmed",
        "IT support phone number",
        "il codice del wifi",
        "c++ build flags",
        "notes about AI papers",
        "the wifi password.",
        "Ich brauche die Nummer vom Klempner",
        "Die Apotheke fragt, was Ida nimmt",
        "Wann hat der Bäcker auf",
        "Je cherche la clé de la cave",
        "Le médecin demande quel est son groupe sanguin",
        "",
    ],
)
def test_no_statements(text: str) -> None:
    assert not is_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Hi there!",
        "good night",
        "merci beaucoup",
        "Danke schön!",
        "Guten Morgen",
        "Alles klar, tschüss",
        "In Ordnung, vielen Dank",
        "muchas gracias, hasta luego",
        "va bene, grazie mille",
        "???",
        "",
    ],
)
def test_pleasantries(text: str) -> None:
    assert is_pleasantry(text)


@pytest.mark.parametrize(
    "text",
    [
        "thanks, and when is the dentist?",
        "good restaurants",
        "what is it?",
        "birds",
        "Mo",
        "Danke, und wann kommt der Klempner?",
        "gute Hotels",
        "heute",
        "next week",
        "What are we doing tomorrow morning?",
    ],
)
def test_no_pleasantries(text: str) -> None:
    assert not is_pleasantry(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("When does Wanda's school start?", ["Wanda"]),
        ("Wanda starts when?", []),  # the first word has a capital anyway
        ("What did Lena say? Oscar asked on Monday in May", ["Lena"]),
        ("Where is the IBAN of my bank", []),
        ("Wo habe ich meine Brille hingelegt?", []),
        ("What Is The Capital Of France", []),
        ("Who is Wanda?", ["Wanda"]),
        ("Who is Wanda Lind?", ["Wanda", "Lind"]),
        ("Who's Wanda?", ["Wanda"]),
        ("Where is My Phone?", ["Phone"]),
        ("Bin Day Next Week", []),
        ("what's I'm I've the", []),
        ("Where do we stay in St. Gallen?", ["Gallen"]),
        ("How high is Mt. Rainier?", ["Rainier"]),
        ("What did Dr. Meyer say of Mrs. Lind's knee?", ["Meyer", "Lind"]),
        ("When is it on? It is at 3 Main St. and Ida is there", ["Main", "St", "Ida"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_who_asks_and_what_is_to_be_done() -> None:
    assert is_personal("what's our wifi password")
    assert is_personal("Wann hat meine Mutter Geburtstag?")
    assert not is_personal("what is a tide?")
    assert is_personal("What did they call her?")
    assert is_personal("What did Marta say to my kids about their school?")
    assert not is_personal("What did Marta paint with her kids?")
    assert is_task("Translate 'good day'")
    assert not is_task("what does translate mean")
    assert is_task("Übersetze 'guten Tag'")
    assert is_personal("Welche Größe hat unser Enkel?")
    assert not is_personal("Schreib mir ein Gedicht")
    assert not is_personal("How do I merge two lists?")
    assert not is_personal("Wie kann ich Tinte entfernen?")
    assert not is_personal("Comment puis-je enlever une tache ?")
    assert is_personal("How do I take my coffee?")
    assert is_personal("How do we name branches?")
    assert is_personal("Which dentist treats me?")
    assert not is_personal("What can you tell me of the tides?")
    assert not is_personal("Could you explain to me what a tide is?")
    assert not is_personal("¿Cómo me quito el hipo?")
    assert is_task("Could you please translate 'good day'?")
    assert is_task("Bitte übersetze 'guten Tag'")
    assert is_task("S'il te plaît, traduis « bonjour »")
    assert not is_task("Can you say when the boiler was repaired?")
    for made_up in ("Give me a regex for dates", "name five rivers", "Suggest a title for a talk"):
        assert is_task(made_up)
    for known in ("Give me the code", "Name the plumber", "Suggest a film", "list our suppliers"):
        assert not is_task(known)


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("How many teeth does a grown horse have?", True),
        ("Can rabbits see colours?", True),
        ("do bees sleep?", True),
        ("what is a race condition", True),
        ("what food is dangerous", False),
        ("Which mushrooms are dangerous?", False),
        ("Does James eat fish?", False),
        ("Does Ida's class swim?", False),
        ("What is his job?", False),
        ("Is this ours?", False),
        ("What are the rules?", False),
        ("How do I deploy?", False),
        ("A horse has thirty-six teeth", False),
        ("what does ECONNRESET stand for", True),
        ("What does the Latin phrase 'mutatis mutandis' mean?", True),
        ("explain the difference between a fjord and a firth", True),
        ("git: difference between HEAD~1 and HEAD^1", True),
        ("What does E4 mean?", False),
        ("What does the red lamp on the boiler mean?", False),
        ("What does our code mean?", False),
        ("How many bytes are in a kibibyte?", True),
        ("How many kilometres are 9 leagues?", True),
        ("How many tickets are left?", False),
        ("Where do visitors leave their coats?", False),
    ],
)
def test_a_question_about_a_kind_is_told_from_one_about_somebody(text: str, general: bool) -> None:
    assert is_general(text) is general


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("why does BRG-77 come back?", ["BRG-77"]),
        ("git show 04be9d1, then 5c1aa20.", ["04be9d1", "5c1aa20"]),
        ("open lib/valves/pump.py:", ["lib/valves/pump.py"]),
        ("set PUMP_DSN in /etc/pump", ["PUMP_DSN", "/etc/pump"]),
        ("pump.local:8443 is down", ["pump.local:8443"]),
        ("10km at 19h30 or 3pm, 2026-05-01T10:00, 24/7, 1,5 bar, 16-bit", []),
        ("e.g. and/or, he said: no. Next", []),
        ("the 3rd mp3", []),
        ("withValve() raised a TooManyValvesError", ["withValve", "TooManyValvesError"]),
        ("JavaScript on an iPhone with macOS, says McDonald", []),
    ],
)
def test_codes_are_told_from_prose_and_amounts(text: str, codes: list[str]) -> None:
    assert codes_in(text) == codes


def test_a_text_of_codes_alone_is_one() -> None:
    assert is_code(" BRG-77, lib/pump.py? ")
    assert not is_code("BRG-77 again")
    assert not is_code("?")


@pytest.mark.parametrize(
    "said", ["Sounds good, go ahead", "d'accord merci", "Bonne soirée", "はい、お願いします"]
)
def test_what_only_agrees_is_a_pleasantry(said: str) -> None:
    assert is_pleasantry(said)


def test_to_whom_something_is_explained_is_no_matter_of_theirs() -> None:
    assert not is_personal("Explique-moi les marées")
    assert is_task("Explique-moi les marées")
    assert is_personal("Explique-moi ma facture")


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("sed: replace only the second occurrence on each line", True),
        ("regex for an ISO 8601 date", True),
        ("git: where do pull requests get merged to", False),
        ("Git for a living is what I do", False),
        ('fix this error: nginx: open() "/etc/nginx/nginx.conf" failed', False),
        ("make this formal: hello landlord, the heating is broken", False),
        ("xargs vs parallel, one line each", True),
        ("make this shorter: 'we are not in a position to comment'", True),
        ("show the syntax of a list comprehension", True),
        ("git handle of Nell?", False),
        ("Vim or Emacs for Ida?", False),
        ("wifi: password?", False),
        ("make this year's list of guests", False),
        ("fix the tap", False),
    ],
)
def test_how_a_tool_is_used_is_a_task_for_anybody(text: str, task: bool) -> None:
    assert is_task(text) is task


@pytest.mark.parametrize(
    ("text", "personal"),
    [
        ("Translate 'I am not a tourist' into Basque", False),
        ('Explain "we are late, and so are our guests"', False),
        ("make this shorter: 'we are not in a position to comment'", False),
        ("Bitte: 'wo ist mein Pass?'", True),
        ('"what is our wifi password?"', True),
        ("Translate 'good day' for my aunt", True),
        ("Where are the kids' bikes and Ida's helmet, can I see them?", True),
    ],
)
def test_what_is_quoted_says_nothing_of_who_asks(text: str, personal: bool) -> None:
    assert is_personal(text) is personal


@pytest.mark.parametrize(
    ("text", "personal"),
    [
        ("Explain gravity like I'm ten", False),
        ("what is a closure, explain like i’m five", False),
        ("describe osmosis as if I were a beginner", False),
        ("Explain our mortgage like I'm five", True),
        ("It looks like I'm late", True),
        ("It looks like I'm a week late", True),
        ("How do bats find their way?", False),
        ("How do they find their way?", True),
        ("For the dentist: what has a bad tooth done to him?", True),
    ],
)
def test_to_whom_and_of_which_kind_is_nothing_of_who_asks(text: str, personal: bool) -> None:
    assert is_personal(text) is personal


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Turn 'we was robbed' into standard English", True),
        ("turn this into a list comprehension: out = []", True),
        ("Turn the heating off", False),
        ("SQL to list cancelled orders", False),
        ("Put this on the shopping list: milk", False),
        ("Put 'we was robbed' into standard English", True),
        ("regex that matches an IPv4 address", True),
        ("Three reasons for and against nuclear power", True),
        ("Give me three synonyms for brisk", True),
        ("Three reasons were given", False),
        ("Three reasons for the move", False),
    ],
)
def test_what_anybody_can_make_of_a_text_is_a_task(text: str, task: bool) -> None:
    assert is_task(text) is task


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("The tests are red, fix them", False),
        ("The plates are coming out gritty, find me the manual", False),
        ("Purser is missing, tell the vet", False),
        ("We're nearly out of pellets, so please ring the merchant", False),
        ("He came in, found the keys and left.", True),
        ("We put up the tent, put the kettle on and slept", True),
    ],
)
def test_an_order_behind_what_is_told_waits_for_an_answer(text: str, statement: bool) -> None:
    assert is_statement(text) is statement
