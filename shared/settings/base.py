"""Settings of a function, read from its environment once, when it starts. Each function takes the parts it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A frozen set whose aliases are environment variables. Raises `ValidationError` naming what is missing.

    A function's own set is read, once; its parts never are, so nothing is built to read them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, defer_build=True)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        return cls.model_validate(dict(environment))
