"""Configuration of what memory takes in: `[modules.memory.trust]`."""

from typing import Literal

from pydantic import Field

from memory_butler.config_table import Table

SecretsMode = Literal["off", "mark", "mask", "refuse"]


class TrustConfig(Table):
    """`[modules.memory.trust]`: what becomes of secrets in what is stored (C-145)."""

    secrets: SecretsMode = Field(
        "mask",
        description="Keys, tokens, cards and passwords in a new memory: `off` stores them as they "
        "are, `mark` notes them, `mask` replaces them, `refuse` stores nothing.",
    )
    secrets_of_tenants: dict[str, SecretsMode] = Field(
        default_factory=dict, description="The same for single tenants, by name."
    )

    def of(self, tenant: str) -> SecretsMode:
        """What becomes of a tenant's secrets."""
        return self.secrets_of_tenants.get(tenant, self.secrets)
