"""What all tables of the configuration have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class Table(BaseModel):
    """A table of `butler.toml`: it refuses unknown keys, and is not changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
