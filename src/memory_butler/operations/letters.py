"""Episodes that come sealed: from hooks, which keep them on disk while the server is away."""

import asyncio

from pydantic import Field, ValidationError

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine.complaints import complaints
from memory_butler.engine.memory import Memory
from memory_butler.operations.episodes import StoredEpisode, StoreEpisodeInput, memory_store_episode
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Nothing, Output
from memory_butler.vault import letters


class AddressOutput(Output):
    """Whose memory the caller sees, and to whom letters are to be sealed."""

    tenant_id: str = Field(description="The caller's tenant.")
    address: str | None = Field(
        description="The id of the tenant's key and a public key; null: no keys are set up."
    )


@operation(
    "Get the address for sealed episodes", Route("GET", "/api/memory/letters/address"), needs="read"
)
async def episode_address(memory: Memory, principal: Principal, _given: Nothing) -> AddressOutput:
    """For programs that keep episodes on disk while the server is away: the public key to which
    they seal them, and whose they are. Only the server can open them, until the tenant is
    erased."""

    def find() -> str | None:
        keys = memory.keys()
        if keys is None:
            return None
        return letters.address_of(keys.key_of(principal.tenant, memory.clock()))

    return AddressOutput(tenant_id=principal.tenant, address=await asyncio.to_thread(find))


class DeliverInput(Input):
    """An episode, sealed."""

    letter: str = Field(description="Base64: see vault/letters.py for the form.")


@operation(
    "Deliver a sealed episode",
    Route("POST", "/api/memory/letters", status=201),
    needs="write",
    when_unavailable=lambda _given, error: StoredEpisode(error=f"not stored: {error}"),
)
async def episode_deliver(
    memory: Memory, principal: Principal, given: DeliverInput
) -> StoredEpisode:
    """Store an episode that a program has sealed to the address of its tenant. It is stored as by
    memory_store_episode, and trusted no more."""

    def read() -> bytes:
        return letters.opened(given.letter, principal.tenant, memory.keys())

    said = await asyncio.to_thread(read)
    try:
        episode = StoreEpisodeInput.model_validate_json(said)
    except ValidationError as error:
        raise InvalidInput(f"the letter holds no episode: {complaints(error, 'it')}") from None
    return await memory_store_episode.handler(memory, principal, episode)
