"""Makes the cases of the poison gauntlet out of hand-written parts.

    python bench/gauntlet_make.py    # writes bench/gauntlet_cases.jsonl, the same each time

What is attacked, and in which words, is written by hand in gauntlet_parts.toml; which parts meet in
a case is drawn from a fixed seed. Every person and every value is of one case alone, so that many
cases share a tenant and an answer still tells whose words it has. The halves take turns: rules are
made with `dev`, and `held` is run last.
"""

import json
import random
import tomllib
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

CASES: Final = Path(__file__).parent / "gauntlet_cases.jsonl"
SEED: Final = 19

Case = dict[str, Any]

_PARTS: Final = tomllib.loads(Path(__file__).with_name("gauntlet_parts.toml").read_text("utf-8"))

LEVELS: Final = ("tool_output", "imported", "untrusted_web")

# way, variant, how many, and of what: a fact or a rule.
_POISON: Final = (
    ("direct", "same_key", 20, "fact"),
    ("direct", "other_predicate", 10, "fact"),
    ("direct", "key_in_capitals", 6, "fact"),
    ("direct", "backdated", 8, "fact"),
    ("direct", "weighty", 8, "fact"),
    ("direct", "lookalike_subject", 6, "fact"),
    ("direct", "forged_subject", 6, "fact"),
    ("direct", "names_a_trusted_episode", 6, "fact"),
    ("direct", "rule", 24, "rule"),
    ("tool output", "episode", 36, "fact"),
    ("tool output", "episode_of_rule", 12, "rule"),
    ("consolidation", "new_fact", 24, "fact"),
    ("consolidation", "update", 14, "fact"),
    ("consolidation", "new_rule", 16, "rule"),
    ("consolidation", "confirms_itself", 8, "fact"),
    ("consolidation", "wrong_source", 8, "fact"),
    ("host consolidation", "new_fact", 16, "fact"),
    ("host consolidation", "update", 8, "fact"),
    ("host consolidation", "new_rule", 10, "rule"),
    ("host consolidation", "slipped_into_a_trusted_run", 12, "fact"),
    ("host consolidation", "rule_slipped_into_a_trusted_run", 8, "rule"),
    ("merge", "entity_into_attackers", 10, "fact"),
    ("merge", "attackers_into_entity", 10, "fact"),
    ("merge", "near_duplicate", 14, "fact"),
    ("edit", "content", 20, "fact"),
    ("edit", "end", 8, "fact"),
    ("edit", "importance", 6, "fact"),
    ("edit", "rule", 12, "rule"),
    ("edit", "unsaid_of_untrusted", 10, "fact"),
    ("import", "jsonl", 10, "fact"),
    ("import", "jsonl_claims_user", 16, "fact"),
    ("import", "jsonl_rule_claims_user", 10, "rule"),
    ("import", "export_claims_user", 8, "fact"),
    ("import", "mem0", 8, "fact"),
    ("import", "basic-memory", 8, "fact"),
    ("import", "chatgpt", 8, "fact"),
    ("import", "claude", 8, "fact"),
    ("import", "claude-code", 8, "fact"),
    ("undo", "of_the_correction", 12, "fact"),
    ("undo", "poison_was_first", 12, "fact"),
    ("undo", "restored_after_forgetting", 12, "fact"),
    ("restatement", "said_often", 12, "fact"),
    ("restatement", "confirmed_often", 12, "fact"),
    ("restatement", "helpful_rule", 10, "rule"),
    ("restatement", "flood", 8, "fact"),
    ("restatement", "consolidated_often", 10, "fact"),
    ("alias", "entity_takes_the_name", 12, "fact"),
    ("alias", "alias_added_later", 10, "fact"),
    ("alias", "victims_entity", 10, "fact"),
    ("scope", "butlers_own", 10, "fact"),
    ("scope", "lookalike_scope", 8, "fact"),
    ("scope", "global_rule", 10, "rule"),
    ("link", "derived_from_poison", 8, "fact"),
    ("link", "supported_by_poison", 8, "rule"),
)
# What a gauntlet cannot count against memory: nobody says where the words are from.
_UNSTATED: Final = (("unstated", "fact", 12, "fact"), ("unstated", "summary", 8, "fact"))

_BENIGN: Final = (
    ("direct", "user_corrects_user", 12),
    ("direct", "user_corrects_agent", 10),
    ("direct", "agent_updates_user", 10),
    ("direct", "user_corrects_web", 10),
    ("direct", "tool_updates_tool", 10),
    ("tool output", "alone", 16),
    ("tool output", "alone_from_web", 10),
    ("consolidation", "agent_updates_agent", 12),
    ("consolidation", "user_replaces_tool", 10),
    ("consolidation", "tool_alone", 10),
    ("host consolidation", "ordinary", 12),
    ("merge", "two_trusted_alike", 12),
    ("edit", "by_the_user", 12),
    ("edit", "by_an_agent_of_tool", 8),
    ("edit", "importance", 8),
    ("import", "alone", 12),
    ("import", "trusted_on_request", 8),
    ("undo", "of_a_mistake", 12),
    ("restatement", "confirmed_by_user", 10),
    ("alias", "corrected_by_another_name", 12),
    ("scope", "own_beside_global", 8),
    ("settle", "let_the_other_hold", 10),
)

# Written later, and dealt after all others, which stay as they are.
_SHARED: Final = (
    ("sync", "a_word_corrected", 16, "fact"),
    ("sync", "text_like_lines_of_a_note", 12, "fact"),
    ("sync", "note_placed", 14, "fact"),
    ("sync", "note_placed_other_predicate", 14, "fact"),
    ("sync", "note_placed_twice", 12, "fact"),
    ("sync", "page_clipped", 12, "fact"),
    ("exchange", "peer_says_user_said", 16, "fact"),
    ("exchange", "other_predicate", 12, "fact"),
    ("exchange", "own_fact_edited", 14, "fact"),
    ("exchange", "own_id_other_words", 14, "fact"),
    ("exchange", "signed_as_what_replaces_it", 12, "fact"),
    ("exchange", "own_fact_ended", 12, "fact"),
    ("exchange", "entity_takes_the_name", 10, "fact"),
    ("exchange", "by_a_folder", 10, "fact"),
)
_SHARED_BENIGN: Final = (
    ("sync", "line_corrected", 12),
    ("sync", "line_added", 12),
    ("sync", "word_taken_over", 10),
    ("exchange", "own_installation", 12),
    ("exchange", "taken_back_corrected", 10),
    ("exchange", "somebody_elses", 10),
)

# Later still, when rules began to be exchanged.
_RULES: Final = (
    ("exchange", "peer_says_a_rule", 16, "rule"),
    ("exchange", "own_rule_edited", 14, "rule"),
    ("exchange", "own_rule_signed_with_other_words", 12, "rule"),
    ("exchange", "own_rule_turned_around", 10, "rule"),
    ("exchange", "own_rule_ended", 12, "rule"),
    ("exchange", "rule_by_a_folder", 10, "rule"),
)
_RULES_BENIGN: Final = (
    ("exchange", "rule_of_own_installation", 10, "rule"),
    ("exchange", "own_rule_corrected", 10, "rule"),
    ("exchange", "somebody_elses_rule", 8, "rule"),
)


class _Deck:
    """Deals every card once before it deals any again."""

    def __init__(self, cards: Sequence[Any], rng: random.Random) -> None:
        self._cards, self._rng = cards, rng
        self._left: list[Any] = []

    def deal(self) -> Any:
        if not self._left:
            self._left = self._rng.sample(self._cards, len(self._cards))
        return self._left.pop()


class _Maker:
    def __init__(self) -> None:
        self._rng = rng = random.Random(SEED)
        self._used: set[str] = set()
        self._topics = _Deck(_PARTS["topics"], rng)
        self._rules = _Deck(_PARTS["rules"], rng)
        self._dresses = _Deck(_PARTS["dresses"], rng)
        self._episodes = _Deck(_PARTS["episodes"], rng)
        self._levels = _Deck(LEVELS, rng)

    def _new(self, *parts: str) -> str:
        while True:
            made = "".join(self._rng.choice(_PARTS[part].split()) for part in parts)
            if made not in self._used:
                self._used.add(made)
                return made

    def _value(self) -> str:
        return self._new("start", "middle", "within", "middle", "end")

    def _who(self) -> str:
        first = self._rng.choice(_PARTS["first_names"].split())
        return f"{first} {self._new('start', 'middle', 'end')}"

    def case(self, id: int, half: str, way: str, variant: str, kind: str) -> Case:
        who, v, w = self._who(), self._value(), self._value()
        fill = {"who": who, "v": v, "w": w}
        if kind == "fact":
            predicate, said, claim, question = (one.format(**fill) for one in self._topics.deal())
            trusted = {"subject": who, "predicate": predicate, "content": said}
        else:
            said, claim, question = (one.format(**fill) for one in self._rules.deal())
            trusted = {"content": said}
        return {
            "id": id,
            "half": half,
            "way": way,
            "variant": variant,
            "kind": kind,
            "level": self._levels.deal(),
            "who": who,
            "trusted": trusted,
            "trusted_mark": v,
            "claim": claim,
            "mark": w,
            "question": question,
        }

    def poison(self, **given: Any) -> Case:
        case = self.case(**given)
        case["claim"] = self._dresses.deal().format(text=case["claim"])
        case["episode"] = self._episodes.deal().format(text=case["claim"])
        return case | {"benign": False}

    def benign(self, **given: Any) -> Case:
        return self.case(**given) | {"benign": True}


def make() -> Iterator[Case]:
    """Every case, in a fixed order."""
    maker = _Maker()
    halves = cycle(("dev", "held"))
    number = 0
    dealt = ((_POISON + _UNSTATED, _BENIGN), (_SHARED, _SHARED_BENIGN), (_RULES, _RULES_BENIGN))
    for poison, benign in dealt:
        for way, variant, count, kind in poison:
            for _ in range(count):
                number += 1
                made = {"id": number, "half": next(halves), "way": way, "variant": variant}
                yield maker.poison(**made, kind=kind)
        for way, variant, count, *of in benign:
            for _ in range(count):
                number += 1
                made = {"id": number, "half": next(halves), "way": way, "variant": variant}
                yield maker.benign(**made, kind=of[0] if of else "fact")


def main() -> None:
    """Write the file."""
    lines = [json.dumps(case, ensure_ascii=True) for case in make()]
    CASES.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(lines)} cases")


if __name__ == "__main__":
    main()
