"""The server behind nginx, as deploy/nginx.conf sets it up: TLS, and another port than 443."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from deploy.test_recipes import needs, proxy_in
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = [pytest.mark.anyio, needs("nginx")]

NAME = "memory.example.org"


@asynccontextmanager
async def behind_nginx(
    served: Served, folder: Path
) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A client of the proxy, and the origin that a browser's page there has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = proxy_in(folder).replace("listen 443", f"listen 127.0.0.1:{port}")
    site = site.replace("http://127.0.0.1:8150", served.url)
    kept = "".join(
        f"{one}_temp_path {folder}/{one}; "
        for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = folder / "nginx.conf"
    whole.write_text(
        f"pid {folder}/pid; daemon off; events {{}} http {{ access_log off; {kept} {site} }}",
        encoding="utf-8",
    )
    nginx = await asyncio.create_subprocess_exec(
        "nginx", "-c", str(whole), "-e", str(folder / "errors")
    )
    try:
        origin = f"https://{NAME}:{port}"
        async with httpx.AsyncClient(
            base_url=f"https://127.0.0.1:{port}",
            headers={"host": f"{NAME}:{port}"},
            verify=False,  # noqa: S501 -- the certificate of this test
            trust_env=False,
            transport=httpx.AsyncHTTPTransport(verify=False, retries=5),
        ) as client:
            yield client, origin
    finally:
        nginx.terminate()
        await nginx.wait()


async def test_a_browser_signs_in_and_works_there(serve: Serve, tmp_path: Path) -> None:
    settings = {"allowed_hosts": [NAME], "trusted_proxies": ["127.0.0.1"], "require_token": True}
    async with serve(**settings) as served, behind_nginx(served, tmp_path) as (browser, origin):
        own = {"origin": origin}
        assert (await browser.get("/api/memory/stats")).status_code == 401
        token = await served.make_token("ana", "read", "write")
        signed_in = await browser.post("/api/session", json={"token": token}, headers=own)
        assert signed_in.status_code == 200, signed_in.text
        assert "Secure" in signed_in.headers["set-cookie"]
        cookie = {"cookie": signed_in.headers["set-cookie"].partition(";")[0]}
        rule = {"content": "Ask before sending"}
        stored = await browser.post("/api/memory/rules", json=rule, headers=own | cookie)
        assert stored.status_code == 201
        foreign = cookie | {"origin": f"https://{NAME}:1"}
        refused = await browser.post("/api/memory/rules", json=rule, headers=foreign)
        assert refused.status_code == 403
