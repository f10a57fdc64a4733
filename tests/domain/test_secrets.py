"""Secrets in a text: found, told by kind, masked once and for all."""

from itertools import pairwise

import pytest
from bench.masking import read_cases
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain import secret_shapes as shapes
from memory_butler.domain.secrets import find, masked

CASES = read_cases(held_out=False)
TEXTS = [case["text"] for case in CASES]
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def kinds(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.level) for one in find(text)]


def without(text: str) -> str:
    return masked(text, [one for one in find(text) if one.level == "mask"])


@pytest.mark.parametrize(
    ("text", "kind", "level"),
    [
        (f"push with {GITHUB}", "GitHub token", "mask"),
        ("it said: unmask_mfrggzdfmztwq2lknnwg23tpoa", "unmask key", "mask"),
        ("postgres://app:Kettle77blue@db/orders", "password", "mask"),
        ("my Netflix password is Tr0ub4dor&3", "password", "mask"),
        ("The network admin's login is root, password Tr0ub4dor&3", "password", "mask"),
        ("Mein WLAN-Passwort ist Kirsche88", "wifi password", "mark"),
        ("The Wi-Fi key at Ana's is 2337898748", "wifi password", "mark"),
        ("the alarm code is 4711", "door code or PIN", "mark"),
        (f"git clone https://{'8c1f2e9a' * 5}@github.com/acme/app.git", "token", "mask"),
        ("docker login -u ana -p Kettle77blue ghcr.io", "password", "mask"),
        ("helm registry login -u ana -p Kettle77blue ghcr.io", "password", "mask"),
        ("docker --config ~/.d login -p Kettle77blue", "password", "mask"),
        ("Cookie: JSESSIONID=0aZ5kTq8Bn3LwXy7", "session cookie", "mask"),
        ("Cookie: connect.sid=0aZ5kTq8Bn3LwXy7", "session cookie", "mask"),
        ("redis-cli -h cache -a Kettle-77 ping", "password", "mask"),
        ("dckr_pat_" + "kLm4NoP7qRs2TuV9wXyZ", "Docker token", "mask"),
        (
            "curl -H 'Cookie: theme=dark; session=eyJ1c2VyIjoxfQ.ZxYwVu.TsRqPoNmLkJiHg' https://x.org",
            "session cookie",
            "mask",
        ),
        ("rent goes to DE89 3704 0044 0532 0130 00", "bank account", "mark"),
        ("my card is 5500 0055 5555 5559", "payment card", "mask"),
        ("passport number X1234567", "identity number", "mark"),
    ],
)
def test_each_kind_is_told(text: str, kind: str, level: str) -> None:
    assert kinds(text) == [(kind, level)]


@pytest.mark.parametrize(
    "text",
    [
        "The token budget is 4000",
        "git clone https://git@github.com/acme/app.git",
        "https://9f8e7d6c5b4a39281706f5e4d3c2b1a0@o4501.ingest.sentry.io/450199",  # of every client
        "https://averylongusernamewithoutdigits@git.example.org/app.git",
        "docker run -p 8080:80 nginx",
        "docker login -u ana --password-stdin",
        "podman run login -p 127.0.0.1:8080:80",  # a container of that name
        "helm install login ./chart -p values.yaml",
        "Cookie: theme=dark; sidebar=collapsed_by_default",  # "sid" within another word
        "Cookie: president=lincoln_or_washington",
        "redis-cli -a $REDIS_PASSWORD ping",
        "Cookie: session=abc; SameSite=Lax; Secure",
        "The cookie: session_id is set by the login",
        "Ana uses a password manager since 2024",
        "Leo needs the password to GitHub",
        "error code 4711 means that the disk is full",
        "password=<your password>",
        'password = "mysecretpassword"',
        '<input type="password" class="form-control" id="login-form-7">',
        "2. **Password Verification**: compare the hashes",
        "def check(password: str) -> bool",
        "The password is base64-encoded",
        "password SCRAM-SHA-256 authentication",
        "the secret is to rest the dough for 10 hours",
        "my card is 5500 0055 5555 5558",  # a wrong check digit
        "rent goes to DE88 3704 0044 0532 0130 00",  # likewise
        "commit 5f2b8c1d9e0a7f6b3c4d5e6f7a8b9c0d1e2f3a4b",
        "key: 6f1c0a52-7f8e-4d0a-9e0e-6f6c1e3f4a10",
    ],
)
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert kinds(text) == []


def test_a_mask_says_what_it_was_and_of_a_long_token_the_end() -> None:
    assert without(f"push with {GITHUB}!") == "push with [masked: GitHub token, …q7R8]!"
    assert without("my mail password is Tr0ub4dor&3.") == "my mail password is [masked: password]."


@pytest.mark.parametrize("text", TEXTS)
def test_masking_again_changes_nothing(text: str) -> None:
    assert without(without(text)) == without(text)


@given(st.lists(st.sampled_from(TEXTS), max_size=4), st.sampled_from([" ", "\n", ". ", "\n\n"]))
def test_what_is_found_lies_in_the_text_apart_and_in_order(texts: list[str], between: str) -> None:
    text = between.join(texts)
    found = find(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    assert masked(text, []) == text
    without(text)


def test_a_private_key_is_masked_to_its_end_and_where_the_end_is_missing() -> None:
    begin, end = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] * 3)
    assert without(f"key:\n{begin}\n{body}\n{end}\nDone") == "key:\n[masked: private key]\nDone"
    assert without(f"{begin}\n{body}\n") == "[masked: private key]\n"


@given(st.integers(0, 10**15 - 1))
def test_one_check_digit_in_ten_is_right(number: int) -> None:
    assert sum(shapes.luhn(f"{number:015}{last}") for last in range(10)) == 1
