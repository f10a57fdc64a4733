"""What is denied, supposed or wanted for a time is told from what is so."""

import pytest

from memory_butler.domain.doubt import Clause, holds_until, only_denied, only_supposed
from memory_butler.domain.evidence import account
from memory_butler.domain.statements import Statement


def _clauses(text: str) -> tuple[Clause, ...]:
    return account(text, frozenset()).clauses


def _asserted(text: str) -> list[str]:
    return [one.text for one in account(text, frozenset()).assertions]


@pytest.mark.parametrize(
    ("text", "predicate", "content", "doubtful"),
    [
        ("User: I don't like coriander.", "dislikes", "Coriander", False),
        ("User: I don't like coriander.", "likes", "Coriander", True),
        ("User: Lena can't have nuts.", "allergy", "Nuts", False),
        ("User: I don't eat meat.", "diet_exclusions", "Meat", False),
        ("User: Maybe we move to Linz.", "possible_move", "Linz", False),
        ("User: Maybe we move to Linz.", "city", "Linz", True),
        ("User: A window seat if possible.", "seat", "Window seat", False),
        ("User: I would like a window seat.", "seat", "Window seat", False),
        ("User: Ich hätte gern einen Fensterplatz.", "platz", "Fensterplatz", False),
    ],
)
def test_a_predicate_may_say_that_it_is_not_or_only_perhaps(
    text: str, predicate: str, content: str, doubtful: bool
) -> None:
    stated = Statement("user", predicate, content)
    told = _clauses(text)
    assert (only_denied(told, stated) or only_supposed(told, stated)) is doubtful


@pytest.mark.parametrize(
    ("text", "content", "denied", "supposed"),
    [
        ("User: I am not diabetic, whatever they say.", "Is diabetic", True, False),
        (
            "User: We never keep peanuts at home because of Tom.",
            "Keeps peanuts at home",
            True,
            False,
        ),
        ("User: Ich bin nicht mehr bei Siemens.", "Ist bei Siemens", True, False),
        ("User: I eat meat again.", "Does not eat meat", True, False),
        ("User: I quit smoking.", "Does not smoke", False, False),
        ("User: I gave up meat.", "No meat", False, False),
        ("User: Do I eat meat?", "Does not eat meat", False, True),
        ("User: If I were vegetarian, what would I eat?", "Is vegetarian", False, True),
        ("User: My head aches.\nAssistant: You may have migraine.", "Has migraine", False, True),
        ("Assistant: You may be tired, or allergic to wine.", "Allergic to wine", False, True),
        ("User: Did Lena move to Linz?", "Lena moved to Linz", False, True),
        ("User: Vielleicht ziehen wir nach Linz.", "Zieht nach Linz", False, True),
        # What is said to be so, and what only looks like it.
        ("User: No, I am diabetic.", "Is diabetic", False, False),
        ("User: I do not eat meat.", "Does not eat meat", False, False),
        ("User: I don't like coffee, I drink tea.", "Drinks tea", False, False),
        ("User: I can't stand coriander.", "Dislikes coriander", False, False),
        ("User: Not only Lena but also Tom has asthma.", "Has asthma", False, False),
        ("User: Don't accept before you checked the clubs.", "Checked clubs", False, False),
        ("User: Had Lena on the phone, moving to Linz.", "Moving to Linz", False, False),
        ("User: I am not diabetic. Tom is diabetic.", "Is diabetic", False, False),
        ("User: I may move to Linz.", "May move to Linz", False, False),
        ("User: On May 4 I moved to Linz.", "Moved to Linz", False, False),
        ("User: Is my Skoda due?", "Drives a Skoda", False, False),
    ],
)
def test_what_is_denied_or_supposed_is_told_from_what_is_so(
    text: str, content: str, denied: bool, supposed: bool
) -> None:
    stated = Statement("user", "x", content)
    assert only_denied(_clauses(text), stated) is denied
    assert only_supposed(_clauses(text), stated) is supposed


def _scene(scene: str) -> tuple[tuple[Clause, ...], Statement]:
    """What the user said, and what a model made of it: "said -> subject / predicate: content"."""
    said, stated = scene.split(" -> ")
    about, content = stated.split(": ", 1)
    subject, predicate = about.split(" / ")
    return _clauses(f"User: {said}"), Statement(subject, predicate, content)


@pytest.mark.parametrize(
    "scene",
    [
        "I'm allergic to nuts, if it matters. -> user / allergy: Allergic to nuts",
        "I'm allergic to nuts if it matters. -> user / allergy: Allergic to nuts",
        "I'm allergic to nuts if that helps. -> user / allergy: Nuts",
        "I would never eat pork. -> user / avoids: Pork",
        "I would never eat pork. -> user / diet: Would never eat pork",
        "I don't eat pork. -> user / avoids: Pork",
        "I don't like coriander. -> user / dislikes: Coriander",
        "My father can't take penicillin. -> father / allergy: Penicillin",
        "Lena can't have nuts. -> Lena / allergy: Nuts",
        "Lena must not have nuts. -> Lena / allergy: Nuts",
        "I don't take metformin any more but ramipril. -> user / medication: Ramipril",
        "Maybe note that Lena is vegetarian. -> Lena / diet: Vegetarian",
        "Please don't forget that Lena is allergic to nuts. -> Lena / allergy: Allergic to nuts",
        "Don't forget I am diabetic. -> user / condition: Diabetic",
        "Never forget that I'm diabetic. -> user / condition: Diabetic",
        "N'oublie pas que Lena est allergique aux noix. -> Lena / allergie: Allergique aux noix",
        "No olvides que Lena es alérgica a las nueces. -> Lena / alergia: Alérgica a las nueces",
        "Non dimenticare che Lena è allergica alle noci. -> Lena / allergia: Allergica alle noci",
        "Não esqueças que a Lena é alérgica a nozes. -> Lena / alergia: Alérgica a nozes",
        "I have no pets and live in Graz. -> user / city: Live in Graz",
        "I have no pets and live in Graz. -> user / city: Graz",
        "I don't eat meat and I am allergic to nuts. -> user / allergy: Allergic to nuts",
        "I don't smoke and I have asthma. -> user / condition: Asthma",
        "Ich rauche nicht und habe Asthma. -> user / condition: Asthma",
        "Ich esse kein Fleisch. -> user / avoids: Fleisch",
        "Ich mag keinen Koriander. -> user / dislikes: Koriander",
        "Ich mag Koriander nicht. -> user / dislikes: Koriander",
        "Je n'aime pas la coriandre. -> user / dislikes: Coriandre",
        "Im Mai ist Lena nach Linz gezogen. -> Lena / city: Nach Linz gezogen",
        "En mai Lena a déménagé à Lyon. -> Lena / city: Déménagé à Lyon",
        "Since May Lena lives in Linz. -> Lena / city: Lives in Linz",
        "In May Lena moved to Linz. -> Lena / city: Moved to Linz",
        "Moro no Porto. -> user / city: Porto",
        "Trabalho no Hospital Santa Maria. -> user / employer: Hospital Santa Maria",
        "Not only is Lena vegetarian but she also hates fish. -> Lena / diet: Vegetarian",
        "I am not only a nurse but a midwife too. -> user / occupation: Nurse",
        "It's not that I don't like opera, I love opera. -> user / likes: Love opera",
        "There is no doubt that I am diabetic. -> user / condition: Diabetic",
        "I'm not sure I told you that Lena is vegetarian. -> Lena / diet: Vegetarian",
        "I don't know if I told you that Lena is vegetarian. -> Lena / diet: Vegetarian",
        "Did you know I moved to Linz? -> user / city: Moved to Linz",
        "Did I tell you that Lena is allergic to nuts? -> Lena / allergy: Allergic to nuts",
        "Have I mentioned that I'm diabetic? -> user / condition: Diabetic",
        "Habe ich schon erzählt, dass ich nach Linz gezogen bin? -> user / city: Nach Linz gezogen",
        "Is rice ok with my diabetes? -> user / condition: Diabetes",
        "Should I take ibuprofen with my ramipril? -> user / medication: Takes ramipril",
        "Darf ich mit meinem Asthma tauchen? -> user / condition: Asthma",
        "If my diabetes gets worse what should I do? -> user / condition: Diabetes",
        "If you need me call 0664 1234567. -> user / phone: 0664 1234567",
        "If the alarm goes off the code is 4711. -> house / alarm_code: 4711",
        "If you call Dr. Weber, use the back door. -> Dr. Weber / entrance: Use the back door",
        "Would you please note that I am diabetic? -> user / condition: Diabetic",
        "If you could note that Lena is vegetarian. -> Lena / diet: Vegetarian",
        "You might want to know that Lena is vegetarian. -> Lena / diet: Vegetarian",
        "You may call me Max. -> user / name: Max",
        "I would like to be called Max. -> user / name: Max",
        "I would prefer tea. -> user / preference: Prefer tea",
        "I'd say I'm an introvert. -> user / trait: Introvert",
        "I would say I'm an introvert. -> user / trait: Introvert",
        "Ich hätte gern Hafermilch in meinem Kaffee. -> user / preference: Hafermilch",
        "Ich würde nie Schweinefleisch essen. -> user / avoids: Schweinefleisch",
        "I wish to be called Max. -> user / name: Max",
        "Trabajo fuera de Madrid. -> user / workplace: Madrid",
        "I work from home unless there is a meeting. -> user / workplace: Works from home",
        "I might come later and Lena is allergic to nuts. -> Lena / allergy: Allergic to nuts",
        "My grandmother falls asleep early. -> grandmother / sleep: Asleep early",
        "Lena is vegetarian and probably coming on Friday. -> Lena / diet: Vegetarian",
        "I can't stand loud music. -> user / dislikes: Loud music",
        "I can't live without coffee. -> user / likes: Coffee",
        "No one in the family but me speaks French. -> user / language: Speaks French",
        "I have not smoked since 2019. -> user / smoking: Smoked until 2019",
        "Das ist nicht mein Bruder sondern mein Cousin Paul. -> Paul / relation: Cousin",
        "Why don't you remember that I live in Graz? -> user / city: Live in Graz",
        "Isn't it great that I finally moved to Linz? -> user / city: Moved to Linz",
        "No hay problema, vivo en Sevilla. -> user / city: Vivo en Sevilla",
        "No tengo coche y vivo en Sevilla. -> user / city: Vivo en Sevilla",
        "Non ho figli e vivo a Torino. -> user / city: Vivo a Torino",
        "Je n'ai pas d'enfants et j'habite à Lyon. -> user / city: Habite à Lyon",
        "Ich habe keine Kinder und wohne in Graz. -> user / city: Wohne in Graz",
        "Não tenho carro e moro em Braga. -> user / city: Moro em Braga",
        "I wouldn't say no to chocolate. -> user / likes: Chocolate",
        "My sister, who may come on Sunday, is vegetarian. -> sister / diet: Vegetarian",
        "Wenn es regnet fährt Lena mit der Tram. -> Lena / commute: Fährt mit der Tram",
        "I could not be happier that I got the job at Siemens. -> user / job: Job at Siemens",
        "I do not have any allergies except to penicillin. -> user / allergy: Penicillin",
        "Tom doesn't drive but Lena drives the van. -> Lena / drives: Drives the van",
        "There's no way I'm giving up running. -> user / hobby: Running",
        "I no longer work at Siemens, I work at Bosch. -> user / employer: Works at Bosch",
        "I am no longer vegetarian, I am vegan now. -> user / diet: Vegan",
        "No sugar in my tea. -> user / tea: No sugar",
        "I take my coffee with no sugar. -> user / coffee: Without sugar",
        "Ich kann keine Laktose vertragen. -> user / intolerance: Laktose",
        "Ich vertrage keine Laktose. -> user / intolerance: Laktose",
        "Gib Lena keine Nüsse. -> Lena / allergy: Nüsse",
        "Never give Lena nuts. -> Lena / allergy: Nuts",
        "Do not give Lena nuts. -> Lena / allergy: Nuts",
        "Lena is not allowed nuts. -> Lena / allergy: Nuts",
        "Lena cannot eat nuts. -> Lena / allergy: Nuts",
        "Lena does not tolerate ibuprofen. -> Lena / intolerance: Ibuprofen",
        "No ibuprofen for Lena. -> Lena / contraindication: Ibuprofen",
        "No nuts for Lena please. -> Lena / allergy: Nuts",
        "Je ne mange pas de porc. -> user / avoids: Porc",
        "No como cerdo. -> user / avoids: Cerdo",
        "Non mangio maiale. -> user / avoids: Maiale",
        "Não como porco. -> user / avoids: Porco",
        "Bitte kein Schweinefleisch. -> user / avoids: Schweinefleisch",
        "Did you see that I switched to ramipril? -> user / medication: Switched to ramipril",
        "Did I say I work nights? -> user / work: Work nights",
        "Do you know a good dentist in Graz, I live in Graz? -> user / city: Live in Graz",
        "Wusstest du, dass ich jetzt in Linz wohne? -> user / city: In Linz wohne",
        "Hast du gewusst, dass Lena Asthma hat? -> Lena / condition: Asthma",
        "Tu savais que j'ai déménagé à Lyon? -> user / city: Déménagé à Lyon",
        "¿Sabías que me mudé a Sevilla? -> user / city: Mudé a Sevilla",
        "Is it bad that I only sleep five hours? -> user / sleep: Only sleep five hours",
        "Is there a pharmacy near Elm Street 4 where I live? -> user / address: Elm Street 4",
        "Perhaps because I grew up in Graz I love hills. -> user / origin: Grew up in Graz",
        "Maybe it helps: I am a nurse. -> user / occupation: Nurse",
        "Maybe useful: my blood type is 0 negative. -> user / blood_type: 0 negative",
        "It might be relevant that I have a pacemaker. -> user / condition: Pacemaker",
        "Falls wichtig: ich bin Diabetikerin. -> user / condition: Diabetikerin",
        "Falls es wichtig ist ich bin Diabetikerin. -> user / condition: Diabetikerin",
        "Wenn du kochst denk dran dass Lena keine Nüsse isst. -> Lena / avoids: Nüsse isst",
        "If possible I want window seats. -> user / preference: Want window seats",
        "I'd rather have aisle seats if possible. -> user / preference: Aisle seats",
        "I would appreciate answers in German. -> user / preference: Answers in German",
        "Lena would have turned 10 but she is 9. -> Lena / age: 9",
        "The dog is probably hungry and his name is Rex. -> dog / name: Rex",
        "I probably told you already that I have two sons. -> user / children: Two sons",
        "I probably told you already I have two sons. -> user / children: Two sons",
        "As you may know I have two sons. -> user / children: Two sons",
        "I may have mentioned my celiac disease. -> user / condition: Celiac disease",
        "You may have noticed that I am left-handed. -> user / trait: Left-handed",
        "You might remember I am left-handed. -> user / trait: Left-handed",
        "My mother may be reached at 0664 1234567. -> mother / phone: 0664 1234567",
        "We might sell the house but for now we live in Graz. -> user / city: Live in Graz",
        "I can't believe I'm finally a doctor. -> user / occupation: Doctor",
        "Nobody told you I'm diabetic? -> user / condition: Diabetic",
        "I have not told anyone that I'm pregnant. -> user / condition: Pregnant",
        "I'm not joking, I own three tractors. -> user / owns: Own three tractors",
        "No kidding I own three tractors. -> user / owns: Own three tractors",
        "I don't mind that Rex sleeps in the bed. -> Rex / sleeping_place: Sleeps in the bed",
        "Lena not Tom is the vegetarian. -> Lena / diet: Vegetarian",
        "It's Lena who is vegetarian not Tom. -> Lena / diet: Vegetarian",
        "My flight is on 3 May not 4 May. -> user / flight: On 3 May",
        "The meeting moved to Tuesday, not Wednesday. -> meeting / day: Moved to Tuesday",
        "The code is 4711 not 4712. -> door / code: 4711",
        "I paid 300 not 200 euros. -> user / paid: 300 euros",
        "Pas de noix pour Lena. -> Lena / allergie: Noix",
        "Sin duda soy celíaco. -> user / condition: Celíaco",
        "Não há dúvida de que sou celíaco. -> user / condition: Celíaco",
        "Oui mais non, je suis végétarienne. -> user / diet: Végétarienne",
    ],
)
def test_what_is_so_is_not_doubted_for_a_denial_beside_it(scene: str) -> None:
    told, stated = _scene(scene)
    assert not only_denied(told, stated)
    assert not only_supposed(told, stated)


@pytest.mark.parametrize(
    "scene",
    [
        "I am not diabetic, whatever my mother says. -> user / condition: Is diabetic",
        "I am not diabetic. -> user / condition: Diabetic",
        "I'm not allergic to nuts. -> user / allergy: Allergic to nuts",
        "I don't have asthma. -> user / condition: Asthma",
        "I never smoked. -> user / habit: Smoked",
        "Lena isn't vegetarian. -> Lena / diet: Vegetarian",
        "Ich bin nicht vegetarisch. -> user / diet: Vegetarisch",
        "Ich bin kein Diabetiker. -> user / condition: Diabetiker",
        "Ich habe keine Allergie gegen Nüsse. -> user / allergy: Allergie gegen Nüsse",
        "Ich rauche nicht. -> user / habit: Raucht",
        "Je ne suis pas diabétique. -> user / condition: Diabétique",
        "No soy diabético. -> user / condition: Diabético",
        "Non sono diabetico. -> user / condition: Diabetico",
        "Não sou diabético. -> user / condition: Diabético",
        "If I were vegetarian I would miss fish. -> user / diet: Vegetarian",
        "If I were vegetarian, what would you cook? -> user / diet: Vegetarian",
        "Wenn ich Vegetarier wäre, was würdest du kochen? -> user / diet: Vegetarier",
        "You may have a migraine. -> user / condition: Migraine",
        "You might have a migraine. -> user / condition: Have a migraine",
        "Maybe Lena is vegetarian. -> Lena / diet: Vegetarian",
        "Lena is probably vegetarian. -> Lena / diet: Vegetarian",
        "Did Lena move to Linz? -> Lena / city: Move to Linz",
        "Is Lena vegetarian? -> Lena / diet: Vegetarian",
        "Hat Lena Asthma? -> Lena / condition: Asthma",
        "Vielleicht ist Lena Vegetarierin. -> Lena / diet: Vegetarierin",
        "Peut-être que Lena est végétarienne. -> Lena / diet: Végétarienne",
        "Suppose I lived in Graz. -> user / city: Lived in Graz",
        "Imagine I had a dog called Rex. -> user / pet: Dog called Rex",
        "I wish I lived in Vienna. -> user / city: Lived in Vienna",
        "Never send mails at night. ->  / : Send mails at night",
        "Do not share my address. ->  / : Share my address",
        "Schick nachts keine Mails. ->  / : Schick nachts Mails",
        "I have no diabetes. -> user / condition: Diabetes",
        "Lena says she is not allergic to cats. -> Lena / allergy: Allergic to cats",
        "My brother never smoked. -> brother / habit: Smoked",
        "We do not own a car. -> user / owns: Own a car",
        "We didn't move to Linz. -> user / city: Move to Linz",
        "Wir sind nicht nach Linz gezogen. -> user / city: Nach Linz gezogen",
        "Ich trinke keinen Alkohol. -> user / habit: Trinke Alkohol",
        "Nous n'avons pas de chien. -> user / pet: Chien",
        "Io non fumo. -> user / habit: Fumo",
        "Se fosse vegetariano, cosa mangerei? -> user / diet: Vegetariano",
        "Si yo fuera vegetariano, ¿qué comería? -> user / diet: Vegetariano",
        "Perhaps I have asthma. -> user / condition: Asthma",
        "Do I have asthma? -> user / condition: Have asthma",
        "Ist Tom Lehrer? -> Tom / occupation: Lehrer",
        "Would Lena be a good nurse? -> Lena / occupation: Nurse",
        "Don't use emojis. ->  / : Use emojis",
        "Bitte nie duzen. ->  / : Duzen",
        "N'utilise jamais d'emojis. ->  / : Utilise emojis",
        "No uses emojis. ->  / : Uses emojis",
        "Please never deploy on Fridays. ->  / : Deploy on Fridays",
        "We should not deploy on Fridays. ->  / : Deploy on Fridays",
        "You must not deploy on Fridays. ->  / : Deploy on Fridays",
        "Don't ever deploy on Fridays. ->  / : Deploy on Fridays",
        "You can't deploy on Fridays. ->  / : Deploy on Fridays",
    ],
)
def test_what_is_denied_supposed_or_asked_is_doubted(scene: str) -> None:
    told, stated = _scene(scene)
    assert only_denied(told, stated) or only_supposed(told, stated)


@pytest.mark.parametrize(
    ("text", "content", "denied"),
    [
        ("I eat meat again.", "Does not eat meat", True),
        ("I smoke.", "Does not smoke", True),
        ("I am vegetarian.", "Is not vegetarian", True),
        ("Emojis in commit messages.", "No emojis in commit messages", True),
        ("I sold the red Skoda last week.", "No red Skoda", False),
        ("I skip breakfast on workdays.", "No breakfast on workdays", False),
        ("Coffee after lunch keeps me awake.", "No coffee after lunch", False),
        ("Deploying on Fridays went wrong twice.", "Do not deploy on Fridays", False),
        ("Meetings before ten kill my focus.", "No meetings before ten", False),
        ("Je ne fume plus le matin.", "Ne fume pas le matin", False),
        ("I used to drink alcohol.", "Does not drink alcohol", False),
        ("I hardly drink alcohol.", "Does not drink alcohol", False),
        ("Instead of eating meat I cook tofu.", "Not eating meat", False),
        ("Nuts make Lena ill.", "No nuts", False),
        ("Keep nuts away from Lena.", "No nuts near Lena", False),
        ("My home is free of pets.", "No pets at home", False),
        ("I quit my work at Siemens.", "Does not work at Siemens", False),
    ],
)
def test_what_is_denied_of_what_is_said_to_be_so(text: str, content: str, denied: bool) -> None:
    assert only_denied(_clauses(f"User: {text}"), Statement("user", "x", content)) is denied


def test_a_clause_of_a_megabyte_is_read_in_time() -> None:
    stated = Statement("user", "x", "word")
    assert not only_denied(_clauses("User: " + "not if word my " * 66_000), stated)


@pytest.mark.parametrize(
    ("text", "rule", "until"),
    [
        (
            "User: Answer briefly today please, I'm in a hurry.",
            "Always answer briefly",
            "ephemeral",
        ),
        ("User: Antworte heute bitte kurz.", "Antworte kurz", "ephemeral"),
        ("User: This week use the back door.", "Use the back door", "volatile"),
        ("User: From today on answer in English.", "Answer in English", None),
        ("User: Ab heute bitte Deutsch sprechen.", "Deutsch sprechen", None),
        ("User: Always answer briefly.", "Answer briefly", None),
        ("User: Check today's weather first.", "Check today's weather first", None),
        ("User: Answer briefly.\nUser: Answer briefly today.", "Answer briefly", None),
    ],
)
def test_a_request_for_a_time_is_no_rule_for_good(text: str, rule: str, until: str | None) -> None:
    assert holds_until(_asserted(text), rule) == until


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("From this week on, answer in French.", "Answer in French"),
        ("Starting today answer in French.", "Answer in French"),
        ("As of this week, answer in French.", "Answer in French"),
        ("Since today my rule is: answer in French.", "Answer in French"),
        ("Starting this month use two reviewers.", "Use two reviewers"),
        ("This month we freeze merges until the release: never merge.", "Never merge"),
        ("Today I learned that you must use two reviewers.", "Use two reviewers"),
        ("Today we agreed that merges need two reviews.", "Merges need two reviews"),
        ("This week we decided to write tests first.", "Write tests first"),
        (
            "This morning the doctor said I must take ramipril after meals.",
            "Take ramipril after meals",
        ),
        ("Heute haben wir beschlossen, Tests zuerst zu schreiben.", "Tests zuerst schreiben"),
        ("Heute habe ich gelernt: Tests zuerst schreiben.", "Tests zuerst schreiben"),
        ("Ab dieser Woche bitte Französisch sprechen.", "Französisch sprechen"),
        ("Seit heute gilt: Französisch sprechen.", "Französisch sprechen"),
        ("Dès aujourd'hui réponds en français.", "Réponds en français"),
        ("Desde hoy responde en francés.", "Responde en francés"),
        ("Desde hoje responde em francês.", "Responde em francês"),
        ("A partire da oggi rispondi in francese.", "Rispondi in francese"),
        ("I'm in a hurry today, use tabs in this project.", "Use tabs in this project"),
        (
            "I just noticed today that you use tabs, use spaces in this project.",
            "Use spaces in this project",
        ),
        ("Today and in future, use spaces.", "Use spaces"),
        ("Use spaces, today and forever.", "Use spaces"),
        ("Aujourd'hui nous avons décidé d'écrire les tests d'abord.", "Écrire les tests d'abord"),
        ("Hoy decidimos escribir las pruebas primero.", "Escribir las pruebas primero"),
    ],
)
def test_what_holds_from_today_on_or_was_found_today_is_a_rule_for_good(
    text: str, rule: str
) -> None:
    assert holds_until(_asserted(f"User: {text}"), rule) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Answer briefly today please.", "Answer briefly"),
        ("Today, please answer briefly.", "Answer briefly"),
        ("Just for today answer in French.", "Answer in French"),
        ("For now use the back door.", "Use the back door"),
        ("This week use the back door.", "Use the back door"),
        ("Heute bitte kurz antworten.", "Kurz antworten"),
        ("Diese Woche bitte nur vegetarisch kochen.", "Nur vegetarisch kochen"),
        ("Aujourd'hui réponds brièvement.", "Réponds brièvement"),
        ("Hoy responde en francés.", "Responde en francés"),
        ("Answer in French, but only today.", "Answer in French"),
        ("Use the back door, for now.", "Use the back door"),
    ],
)
def test_what_is_wanted_for_a_time_is_no_rule_for_good(text: str, rule: str) -> None:
    assert holds_until(_asserted(f"User: {text}"), rule) is not None
