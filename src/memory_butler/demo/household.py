"""A made-up household over four months: what was told on which day, and what became of it."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory_butler.domain.principals import Scope

# How many days before the present the story begins.
DAYS: Final = 120
# Before episodes expire, after a week; the last one leaves the newest waiting.
CONSOLIDATIONS: Final = frozenset(range(4, 115, 5))
# The prompts of sessions that asked for a block, by day.
PROMPTS: Final = (
    (75, "work", "Prepare the release notes"),
    (117, "travel", "What to pack for Berlin, and where to stay"),
    (119, "home", "Plan a dinner for the family"),
)
# Namespace of the sessions' ids.
SESSIONS: Final = UUID("6f1f7d1c-3f0c-4c59-9d7e-0d5f0c9a1b2e")


@dataclass(frozen=True, slots=True)
class Fact:
    """Told on a day; `confirmed` and `forgotten` are days as well."""

    day: int
    subject: str
    predicate: str
    content: str
    butler: str
    permanence: str = "standard"
    scope: str = "global"
    importance: float = 5.0
    confirmed: tuple[int, ...] = ()
    forgotten: int | None = None
    entity: str | None = None
    # The day of the same butler's episode that it was told in.
    told: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Told on a day, and how it fared: +1 helped, -1 did harm, one a day from the next day on."""

    day: int
    content: str
    butler: str
    marks: tuple[int, ...] = ()
    scope: str = "global"
    reason: str = "it annoyed everybody"
    confirmed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Episode:
    """What happened on a day, and what a consolidation drew from it; None: it still waits."""

    day: int
    butler: str
    content: str
    learned: tuple[tuple[str, str, str], ...] | None = ()
    importance: float = 5.0


# Who was let in on the first day, what for, and for how many days.
TOKENS: tuple[tuple[str, tuple[Scope, ...], int], ...] = (
    ("phone", ("read",), 365),
    ("claude-code", ("read", "write"), 365),
    ("old laptop", ("read", "write", "admin"), 30),
)

# fmt: off
FACTS = (
    Fact(0, "Ana", "birthday", "Ana's birthday is on 14 March", "home", "permanent", importance=9,
          entity="Ana"),
    Fact(0, "user", "home_city", "Lives in Lisbon, near Graça", "home", "stable", importance=8),
    Fact(1, "user", "diet", "Is vegetarian, and eats fish when travelling", "health", "stable"),
    Fact(1, "user", "allergy", "Is allergic to penicillin", "health", "permanent", importance=10),
    Fact(2, "Ana", "school", "Goes to the primary school in Rua da Voz do Operário", "home",
          entity="Ana"),
    Fact(3, "user", "coffee", "Drinks espresso, no sugar", "home", confirmed=(60, 110), told=3),
    Fact(5, "house", "wifi_name", "The guests' network is called Azulejo", "home", "stable"),
    Fact(6, "user", "seat", "Prefers an aisle seat near the front", "travel", "stable", "travel"),
    Fact(8, "Rui", "profession", "Rui is a structural engineer", "work", "stable",
          confirmed=(80,), entity="Rui Tavares"),
    Fact(9, "user", "bank", "Uses Banco Montepio for daily payments", "finance", "stable"),
    Fact(10, "house", "heating", "The boiler was serviced by Sr. Matos", "home", "standard"),
    Fact(12, "user", "running_goal", "Wants to run 10 km in under an hour", "health", "volatile"),
    Fact(14, "car", "inspection", "The car's inspection is due in May", "home", "volatile"),
    Fact(
        15, "user", "project", "Works on the tender for the Tagus footbridge", "work", "volatile"
    ),
    Fact(20, "Ana", "favourite_book", "Loves the Moomin books", "home", confirmed=(95,),
          entity="Ana"),
    Fact(22, "user", "budget", "Keeps groceries below 420 euros a month", "finance", "volatile"),
    Fact(25, "user", "headache", "Had a headache after the dentist", "health", "ephemeral"),
    Fact(30, "user", "editor", "Writes drawings' notes in Markdown", "work", "standard", "work"),
    Fact(33, "parking", "spot", "Parked on level -2, row F", "home", "ephemeral"),
    Fact(40, "user", "home_city", "Moved to Porto, Rua do Almada", "home", "stable", importance=8,
          told=40),
    Fact(41, "Ana", "school", "Goes to the Escola da Vitória in Porto", "home", "stable",
          entity="Ana", told=40),
    Fact(48, "user", "airline", "Collects miles with TAP", "travel", "stable", "travel"),
    Fact(
        52, "mother", "phone_day", "Calls on Sunday evenings", "home", "standard", confirmed=(100,)
    ),
    Fact(55, "user", "medication", "Takes vitamin D in winter", "health", "volatile"),
    Fact(58, "user", "standing_desk", "Stands in the morning, sits after lunch", "work"),
    Fact(
        60, "user", "coffee_machine", "The grinder needs cleaning on Fridays", "home", "volatile"
    ),
    Fact(64, "Porto flat", "landlord", "The landlady is Dona Celeste", "home", "stable"),
    Fact(70, "user", "gym", "Swims at the Constituição pool", "health", forgotten=96),
    Fact(74, "user", "project", "Leads the footbridge's foundation design", "work", importance=7),
    Fact(80, "user", "passport", "The passport expires in October", "travel", "stable", "travel"),
    Fact(85, "dentist", "next_visit", "The next visit is in June", "health", "volatile"),
    Fact(90, "user", "tone", "Wants short answers, and the reasons after them", "work", "stable"),
    Fact(94, "user", "savings", "Puts 300 euros aside on the first of a month", "finance"),
    Fact(98, "Ana", "piano", "Began piano lessons with Teresa", "home", importance=6,
          entity="Ana"),
    Fact(
        101, "user", "travel_plan", "Flies to Berlin in two weeks", "travel", "ephemeral", "travel"
    ),
    Fact(
        104, "user", "electricity", "Pays 0.19 euros a kWh, at night 0.11", "finance", "standard"
    ),
    Fact(108, "weather", "storm", "A storm is forecast for the weekend", "home", "ephemeral"),
    Fact(112, "user", "coffee_beans", "Buys beans at Combi", "home"),
    Fact(100, "R. Tavares", "profession", "Is an engineer at the city council", "finance",
          entity="R. Tavares"),
    Fact(106, "R. Tavares", "phone", "Answers on the office number before noon", "finance",
          "standard", entity="R. Tavares"),
    Fact(116, "Rui", "email_style", "Rui reads mail only in the morning", "work", "standard",
          "work", entity="Rui Tavares"),
    Fact(29, "family", "dinner_time", "Has dinner at half past seven, on Fridays with the mother",
         "home", confirmed=(88,)),
    Fact(77, "Ana", "vegetables", "Likes pea soup and leaves aubergines on the plate", "home",
         entity="Ana"),
    Fact(92, "family", "cooking", "Cooks something new for dinner on Saturdays", "home"),
    # The piano teacher under two names, until somebody saw that they are one.
    Fact(99, "Prof. Teresa", "teaches", "Teaches the piano in Rua de Cedofeita", "home",
         entity="Prof. Teresa"),
    Fact(105, "Teresa Antunes", "phone_hours", "Takes calls after six in the evening", "home",
         entity="Teresa Antunes"),
    # Two rents of one flat: a conflict that waits for somebody to settle it.
    Fact(66, "Porto flat", "rent", "The rent is 1150 euros a month", "home", "stable"),
    Fact(117, "Porto flat", "monthly_rent", "The rent is 1190 euros a month", "home", "stable"),
    Fact(118, "user", "mood", "Is tired after the deadline", "health", "ephemeral"),
)
# fmt: on

RULES = (
    Rule(2, "Confirm dates by naming the weekday as well", "home", (1,) * 19,
          confirmed=(61, 108)),
    Rule(4, "Ask about allergies before suggesting a restaurant", "health", (*(1,) * 17, -1, 1),
          reason="the restaurant was closed", confirmed=(112,)),
    Rule(10, "Put the reasons after the answer, never before it", "work", (1,) * 12, "work",
          confirmed=(99,)),
    Rule(15, "Offer the train first for journeys under four hours", "travel", (*(1,) * 8, -1),
          reason="the train was on strike", confirmed=(84,)),
    Rule(20, "Remind of bills three days before they are due", "finance", (1,) * 7),
    Rule(30, "Round amounts below five euros in summaries", "finance", (1, 1, -1, 1), "finance"),
    Rule(42, "Suggest a morning slot for calls with Rui", "work", (1, 1, 1), "work"),
    Rule(45, "Book the earliest flight to save money", "travel", (1, -1, -1, -1), "travel",
          "the airport cannot be reached at that hour"),
    Rule(50, "Add an emoji to every message for Ana", "home", (-1, -1, -1)),
    Rule(88, "Check the weather before planning a weekend outside", "home", (1, 1)),
    Rule(102, "Write shopping lists in the order of the shop's aisles", "home"),
    Rule(111, "Prefer vegetarian recipes with fewer than ten ingredients", "health", (1,)),
)  # fmt: skip

EPISODES = (
    Episode(3, "home", "The user asked for an espresso again and said that sugar ruins it."),
    Episode(26, "health", "Dentist visit. The user asked what helps against a headache."),
    Episode(40, "home", "We moved boxes all day. The new address is Rua do Almada in Porto."),
    Episode(
        88,
        "home",
        "The user and Ana baked a lemon cake; Ana measured everything by herself.",
        (("Ana", "baking", "Measures ingredients by herself when baking"),),
        6.0,
    ),
    Episode(
        96,
        "work",
        "Review of the foundation drawings with Rui. He wants load cases in a table, not in prose.",
        (("Rui", "review_style", "Wants load cases in a table"),),
        7.0,
    ),
    Episode(
        103,
        "travel",
        "Planned the trip to Berlin. The user wants a hotel close to a station, with breakfast.",
        (("user", "hotel", "Wants hotels close to a station, with breakfast"),),
        6.0,
    ),
    Episode(
        109,
        "finance",
        "Compared electricity tariffs. The washing machine now runs at night.",
        (("house", "washing_machine", "Runs at night, when electricity is cheaper"),),
    ),
    Episode(113, "health", "Ran eight kilometres along the river in 51 minutes.", ()),
    Episode(
        114,
        "work",
        "Site visit. Rui wants the minutes on the same day, as a list of decisions.",
        (("Rui", "minutes", "Wants minutes on the same day, as a list of decisions"),),
        6.0,
    ),
    Episode(115, "home", "Ana's piano teacher moved the lesson to Thursday at five.", None, 7.0),
    Episode(116, "work", "Rui asked for the soil report twice before noon.", None),
    Episode(117, "travel", "Checked in for the flight to Berlin; aisle seat 4C.", None, 6.0),
    Episode(118, "work", "The tender was handed in two hours before the deadline.", None, 8.0),
    Episode(119, "home", "The storm broke a branch off the lemon tree.", None),
)

# Which facts, by subject and predicate, support which rule, by its first words.
SUPPORTED = (
    ("user", "allergy", "Ask about allergies"),
    ("user", "diet", "Ask about allergies"),
    ("user", "diet", "Prefer vegetarian recipes"),
    ("user", "tone", "Put the reasons after"),
    ("Rui", "email_style", "Suggest a morning slot"),
    ("user", "home_city", "Offer the train first"),
    ("user", "budget", "Remind of bills"),
)

ENTITIES = (
    ("Ana", "person", ("Aninhas",)),
    ("Rui Tavares", "person", ("Rui",)),
    # The same person, as the finance butler met him: there for somebody to merge.
    ("R. Tavares", "person", ("Eng. Tavares",)),
    ("Teresa Antunes", "person", ("Teresa",)),
    ("Prof. Teresa", "person", ()),
    ("Porto", "place", ()),
    ("Câmara Municipal do Porto", "organization", ("CMP", "city council")),
    ("Escola da Vitória", "organization", ()),
    ("Dona Celeste", "person", ()),
    ("Lisbon", "place", ()),
    ("Tagus footbridge", "other", ("footbridge",)),
)

# On which day, which entity was merged into which.
MERGES = ((112, "Prof. Teresa", "Teresa Antunes"),)
