"""Record what sentence-transformers answers for 512 texts, for the parity test of our embedder.

sentence-transformers and PyTorch are gigabytes, so this runs in an environment of its own:

    python -m venv /tmp/reference
    /tmp/reference/bin/pip install sentence-transformers
    /tmp/reference/bin/python bench/record_minilm_reference.py MODEL_FOLDER

MODEL_FOLDER holds all-MiniLM-L6-v2 as sentence-transformers lays it out
(`src/memory_butler/inference/weights`). The texts are generated here, the same at every run, and
stored with their vectors in tests/inference/minilm_reference.npz:

    texts    uint8, the UTF-8 of a JSON list of strings
    vectors  float32 (512, 384)
"""

import argparse
import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

OUTPUT = Path(__file__).parents[1] / "tests" / "inference" / "minilm_reference.npz"
COUNT = 512
SEED = 20_000

EDGES = [
    "",
    " ",
    "\n\t \r\n",
    ".",
    "?!",
    "... --- ...",
    "()[]{}<>",
    "a",
    "A",
    "0",
    "42",
    "3.14159",
    "-1e-12",
    "1,234,567.89",
    "2026-11-21T08:30:00Z",
    "192.168.0.1:8150",
    "[SEP]",
    "[CLS] [MASK] [PAD]",
    "nul\x00byte",
    "zero\u200bwidth",
    "soft\u00adhyphen",
    "non\u00a0breaking\u3000spaces",
    "\ufeffbyte order mark",
    "cafe\u0301 and café",
    "ﬁne ligature, Ⅳ, ½, ①",
    "ＦＵＬＬ ｗｉｄｔｈ",
    "İstanbul ıssız STRASSE Straße",
    "\ufffd replaced \x07 bell",
    "😀",
    "😀😀😀😀😀😀",
    "👩‍👩‍👧‍👦 family, 🇳🇱 flag, 👍🏽 tone",
    "∑ αᵢ ≤ ∞, x ∈ ℝ",
    "→ ← ↑ ↓ ★ ☂ €£¥",
    "a" * 99,
    "a" * 100,
    "a" * 101,
    "word " * 253,
    "word " * 254,
    "word " * 255,
    "word " * 600,
    "x" * 5_000,
    "long" + " " * 5_000 + "gap",
    "!" * 700,
    "ab" * 50 + " " + "ab" * 51,
    "https://example.org/a/b?c=d&e=f#g",
    "someone@example.org",
    "C:\\Users\\me\\notes.txt",
    "/var/lib/butler/data",
]

LANGUAGES = [
    "De winkel om de hoek sluit op maandag om zes uur.",
    "Ich habe morgen früh einen Termin beim Zahnarzt.",
    "Le train de nuit pour Lyon part du quai numéro trois.",
    "Mi hermana prefiere el té sin azúcar y con limón.",
    "O gato dorme em cima do teclado quando chove.",
    "La riunione è stata spostata a giovedì pomeriggio.",
    "Min granne lånar ut sin stege varje sommar.",
    "Kokous siirrettiin ensi viikkoon, koska sali on varattu.",
    "Jutro rano trzeba zadzwonić do hydraulika.",
    "Zítra ráno zavolám kvůli rozbité pračce.",
    "A kulcs a virágcserép alatt van, mint mindig.",
    "Toplantı salı gününe ertelendi, lütfen not al.",
    "Завтра утром надо полить цветы на балконе.",
    "Ο σκύλος φοβάται τις βροντές και κρύβεται.",
    "השכנה מלמעלה מנגנת בפסנתר בכל ערב.",
    "القطار يصل متأخرا كل يوم اثنين.",
    "मेरी बहन को नींबू वाली चाय पसंद है।",
    "明日の朝、植物に水をやるのを忘れないでください。",
    "我妹妹喜欢喝加柠檬的茶，不加糖。",
    "내일 아침에 화분에 물을 주는 것을 잊지 마세요.",
    "แมวนอนบนแป้นพิมพ์เมื่อฝนตก",
    "Con mèo ngủ trên bàn phím mỗi khi trời mưa.",
    "Paka hulala juu ya kibodi mvua inaponyesha.",
    "Katten sover på tastaturet når det regner.",
]

CODE = [
    "def area(r: float) -> float:\n    return 3.14159 * r ** 2",
    "SELECT name, count(*) FROM visits WHERE day > $1 GROUP BY name ORDER BY 2 DESC;",
    "for (let i = 0; i < rows.length; i += 1) { total += rows[i].price; }",
    'fn main() { println!("{:>8}", 7u32.pow(3)); }',
    '{"user": "ada", "tags": ["a", "b"], "ok": true, "n": null}',
    "<ul><li class='x'>one</li><li>two</li></ul>",
    "git rebase -i HEAD~3 && git push --force-with-lease",
    "| day | high | low |\n|-----|------|-----|\n| mon | 12   | 4   |",
    "#!/bin/sh\nset -eu\nfind . -name '*.tmp' -mtime +7 -delete",
    "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'",
]

PEOPLE = [
    "Ada",
    "my brother",
    "the new tenant",
    "Priya",
    "our plumber",
    "Dr. Okafor",
    "the finance agent",
]
ACTIONS = [
    "prefers",
    "forgot",
    "ordered",
    "repaired",
    "cancelled",
    "is allergic to",
    "asked about",
    "sold",
]
THINGS = [
    "oat milk",
    "the blue bicycle",
    "a ticket to Porto",
    "invoice 20417",
    "the heating",
    "peanuts",
    "the staging database",
    "dark mode",
    "two litres of paint",
    "the piano lesson",
    "a window seat",
]
WHEN = [
    "",
    "yesterday",
    "on 3 May 2024",
    "every Tuesday",
    "since the outage",
    "at 07:45",
    "last winter",
]
WHY = [
    "",
    " because the old one broke",
    ", but nobody wrote it down",
    " to save money",
    " and told everyone",
    ", which surprised the whole team",
    " after reading the manual twice",
]
DECORATION = ["", "!", "?", "...", " 🙂", " (sic)", " #todo", "  ", "\n"]


def sentence(chance: random.Random) -> str:
    words = [chance.choice(part) for part in (PEOPLE, ACTIONS, THINGS, WHEN)]
    return " ".join(word for word in words if word) + chance.choice(WHY)


def generated(chance: random.Random) -> Iterator[str]:
    """Sentences, then notes of growing length up to several times the model's 256 tokens."""
    while True:
        yield sentence(chance) + chance.choice(DECORATION)
        yield ". ".join(sentence(chance) for _ in range(chance.randint(2, 8)))
        yield sentence(chance).upper()
        yield f"{chance.choice(LANGUAGES)} {sentence(chance)}"
        yield f"{sentence(chance)}:\n\n{chance.choice(CODE)}"
        numbers = [f"{chance.uniform(-1e6, 1e6):.{chance.randint(0, 6)}f}" for _ in range(12)]
        yield " ".join(numbers)
        yield " ".join([chance.choice(THINGS)] * chance.randint(2, 40))
        yield "; ".join(chance.sample(LANGUAGES, 4))
        yield ". ".join(sentence(chance) for _ in range(chance.randint(15, 60)))


def reference_texts() -> list[str]:
    chance = random.Random(SEED)
    fixed = EDGES + LANGUAGES + CODE
    return fixed + list(islice(generated(chance), COUNT - len(fixed)))


def main() -> None:
    from sentence_transformers import SentenceTransformer

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model_folder", type=Path)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()

    texts = reference_texts()
    model = SentenceTransformer(str(arguments.model_folder), device="cpu")
    # The butler embeds an empty text as one space (EMB-03), so that is what is asked for here.
    asked = [text or " " for text in texts]
    vectors = model.encode(asked, normalize_embeddings=True, convert_to_numpy=True)
    content = json.dumps(texts, ensure_ascii=False).encode()
    np.savez_compressed(
        arguments.output,
        texts=np.frombuffer(content, np.uint8),
        vectors=np.asarray(vectors, np.float32),
    )
    print(f"{arguments.output}: {len(texts)} texts, {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
