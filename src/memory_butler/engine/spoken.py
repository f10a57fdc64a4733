"""Which languages a tenant's memories are in: one of these is what a short question is in (C-455).

"nummer der kita" has too few letters to be told from Danish.
"""

from time import monotonic
from typing import Final

from memory_butler.engine.memory import Memory
from memory_butler.inference import languages
from memory_butler.inference.languages import NONE, Spoken
from memory_butler.store.languages import sampled

# A sample is kept for so long for each of its memories: a small store soon changes; in a large one
# the first ids, and so the sample, hardly do.
SECONDS_EACH: Final = 10.0
MOST_TENANTS: Final = 1_000


async def spoken_languages(memory: Memory, tenant: str, question: str) -> Spoken:
    """Of each language, how many of the tenant's memories are in it; of a sample, where it matters.

    Nothing for a question that has enough words of its own, or is surely in English.
    """
    if not languages.is_short(question):
        return NONE
    now = monotonic()
    spoken, until = memory.spoken.get(tenant, (NONE, 0.0))
    if now < until:
        return spoken
    async with memory.present.reading(tenant) as tx:
        texts = await sampled(tx)
    spoken = await languages.counted(texts)
    memory.spoken.pop(tenant, None)
    memory.spoken[tenant] = spoken, now + SECONDS_EACH * len(texts)
    if len(memory.spoken) > MOST_TENANTS:
        del memory.spoken[next(iter(memory.spoken))]
    return spoken
