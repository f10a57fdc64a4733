"""What all tables of the configuration have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class Table(BaseModel):
    """A table of `butler.toml`: it refuses unknown keys, and is not changed once it is read.

    A table that is another's default is made by `model_construct`: checked, each would have a
    validator built of its own, where that of the settings checks all of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
