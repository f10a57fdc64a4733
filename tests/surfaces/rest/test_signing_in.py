"""Signing in: a token for a cookie, which counts until the token ends or one signs out."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import list_tokens, revoke_token
from memory_butler.surfaces.session_cookie import SessionCookie
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


async def test_a_token_is_exchanged_for_a_cookie(serve: Serve) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        token = await served.make_token("team", "read")
        before = await rest.get("/api/session")
        assert before.json() == {
            "signed_in": False,
            "token_required": True,
            "tenant": None,
            "actor": None,
            "scopes": [],
            "demo": False,
        }
        assert (await rest.get("/api/memory/facts")).status_code == 401

        answer = await rest.post("/api/session", json={"token": f" {token}\n"})
        assert answer.json()["tenant"] == "team"
        cookie = answer.headers["set-cookie"]
        assert token not in cookie
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
        assert "Secure" not in cookie  # the test speaks http

        after = (await rest.get("/api/session")).json()
        assert (after["signed_in"], after["actor"], after["scopes"]) == (
            True,
            "token:team-agent",
            ["read"],
        )
        assert (await rest.get("/api/memory/facts")).status_code == 200
        assert (await rest.get("/api/tokens")).status_code == 403

        assert (await rest.delete("/api/session")).json()["signed_in"] is False
        assert (await rest.get("/api/memory/facts")).status_code == 401


async def test_a_caller_without_a_token_gets_the_local_tenants_memory(serve: Serve) -> None:
    async with serve(local_tenant="home") as served, served.rest() as rest:
        assert (await rest.get("/api/session")).json()["tenant"] == "home"
        fact = {"subject": "shed", "predicate": "key", "content": "Under the third pot"}
        await rest.post("/api/memory/facts", json=fact)
        kept = (await rest.get("/api/memory/facts")).json()["items"]
        assert [one["tenant_id"] for one in kept] == ["home"]

        # Whoever has a token gets what it is for, and home's again after signing out.
        token = await served.make_token("default", "read")
        await rest.post("/api/session", json={"token": token})
        assert (await rest.get("/api/memory/facts")).json()["items"] == []
        assert (await rest.delete("/api/session")).json()["tenant"] == "home"


async def test_the_cookie_is_no_token_and_the_token_no_cookie(serve: Serve) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        token = await served.make_token()
        await rest.post("/api/session", json={"token": token})
        value = rest.cookies["memory_butler"]
        for given, status in (
            ({"cookie": f"memory_butler={value}"}, 200),
            ({"authorization": f"Bearer {value}"}, 401),
            ({"cookie": f"memory_butler={token}"}, 401),  # as it was set before
            ({"cookie": f"memory_butler={_changed(value)}"}, 401),
            ({"cookie": "memory_butler=short"}, 401),
            ({"cookie": "memory_butler=\xe9"}, 401),
        ):
            rest.cookies.clear()
            answer = await rest.get(
                "/api/memory/facts",
                headers={name: one.encode("latin-1") for name, one in given.items()},  # type: ignore[arg-type]
            )
            assert (given, answer.status_code) == (given, status)


def _changed(value: str) -> str:
    """Another letter in the middle: the last one may hold bits that do not count."""
    middle = len(value) // 2
    return value[:middle] + ("A" if value[middle] != "A" else "B") + value[middle + 1 :]


async def test_a_session_outlives_a_restart_and_ends_after_a_month(
    serve: Serve, memory: Memory
) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        await rest.post("/api/session", json={"token": await served.make_token()})
        cookies = rest.cookies
    async with serve(require_token=True) as another, another.rest() as rest:
        rest.cookies = cookies
        assert (await rest.get("/api/memory/facts")).status_code == 200
    one = SessionCookie(replace(memory, audit=None))
    assert SessionCookie(replace(memory, audit=None)).token(one.sealed("mbt_mine")) is None

    now = datetime(2026, 1, 1, tzinfo=UTC)
    cookie = SessionCookie(replace(memory, clock=lambda: now))
    value = cookie.sealed("mbt_mine")
    now += timedelta(days=29)
    assert cookie.token(value) == "mbt_mine"
    now += timedelta(days=1)
    assert cookie.token(value) is None


@pytest.mark.parametrize("token", ["mbt_guessed", "", "mbt_\ud800", "\x00"])
async def test_a_wrong_token_is_refused_and_sets_nothing(serve: Serve, token: str) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        said = json.dumps({"token": token})
        kind = {"content-type": "application/json"}
        answer = await rest.post("/api/session", content=said, headers=kind)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "set-cookie" not in answer.headers


async def test_a_revoked_token_ends_the_session(serve: Serve) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        await rest.post("/api/session", json={"token": await served.make_token()})
        (row,) = await list_tokens(served.memory, "default")
        await revoke_token(served.memory, row["id"])
        assert (await rest.get("/api/memory/facts")).status_code == 401
        # The sign-in page still learns that nobody is signed in.
        assert (await rest.get("/api/session")).json()["signed_in"] is False


async def test_a_page_of_another_site_cannot_use_the_cookie(serve: Serve) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        await rest.post("/api/session", json={"token": await served.make_token()})
        foreign = {"origin": "https://elsewhere.example"}
        assert (await rest.post("/api/memory/rules", json={}, headers=foreign)).status_code == 403
        own = {"origin": served.url}
        stored = await rest.post("/api/memory/rules", json={"content": "Ask"}, headers=own)
        assert stored.status_code == 201


async def test_an_open_server_needs_no_session(served: Served) -> None:
    stale = httpx.Cookies({"memory_butler": "mbt_of-long-ago"})
    async with served.rest() as rest:
        rest.cookies = stale
        said = (await rest.get("/api/session")).json()
        assert (said["signed_in"], said["token_required"], said["tenant"]) == (
            True,
            False,
            "default",
        )
        assert (await rest.get("/api/memory/facts")).status_code == 200


async def test_the_cookie_is_secure_over_https(serve: Serve) -> None:
    settings = {"require_token": True, "trusted_proxies": ("127.0.0.1",)}
    async with serve(**settings) as served, served.rest() as rest:
        answer = await rest.post(
            "/api/session",
            json={"token": await served.make_token()},
            headers={"x-forwarded-proto": "https"},  # from a proxy on this machine
        )
        assert "Secure" in answer.headers["set-cookie"].split("; ")
