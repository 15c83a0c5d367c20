"""How the words of a switch are read. Whatever is wrong is said with the switch's name and what it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from shared.domain.origins import comparable_origin

_HOST = re.compile(r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}", re.ASCII)
_ARN = re.compile(r"arn:aws[a-z-]*:(?P<service>[a-z0-9-]+):(?P<region>[a-z0-9-]*):(?P<account>\d{12}|):\S+", re.ASCII)
_EMAIL = re.compile(r"[^\s@,;<>\"]+@[^\s@,;<>\"]+\.[^\s@,;<>\"]+")


class RefusedSwitch(ValueError):
    """The message is a whole sentence, or several."""


class WrongSwitch(RefusedSwitch):
    """The message names the switch and what it may be."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(f"The switch {name} must be {wanted}.")


@dataclass(frozen=True, slots=True)
class Throttle:
    """Over all callers."""

    rate_per_s: int
    burst: int


@dataclass(frozen=True, slots=True)
class Words:
    """The switches as they were given: text from the command line, any JSON from `cdk.json`."""

    given: Mapping[str, object]

    def text(self, name: str, pattern: str, *, wanted: str) -> str:
        """Empty where it is not given."""
        value = self._plain(name)
        if value and re.fullmatch(pattern, value, re.ASCII) is None:
            raise WrongSwitch(name, wanted)
        return value

    def one_of(self, name: str, allowed: Collection[str]) -> str:
        """Empty where it is not given."""
        value = self._plain(name)
        if value and value not in allowed:
            raise WrongSwitch(name, f"one of {', '.join(allowed)}")
        return value

    def flag(self, name: str) -> bool:
        value = self._plain(name).lower()
        if value not in ("", "true", "false"):
            raise WrongSwitch(name, "true or false")
        return value == "true"

    def number(self, name: str, default: int, *, allowed: Collection[int]) -> int:
        value = self._plain(name)
        if not value:
            return default
        if not value.isdecimal() or int(value) not in allowed:
            raise WrongSwitch(name, f"one of {', '.join(str(each) for each in sorted(allowed))}")
        return int(value)

    def arn(self, name: str, service: str, *, region: str = "") -> str:
        """Empty where it is not given. With a `region` no other one is taken."""
        value = self._plain(name)
        if not value:
            return ""
        found = _ARN.fullmatch(value)
        if found is None or found["service"] != service or region not in ("", found["region"]):
            raise WrongSwitch(name, f"the ARN of a resource of {service}{f' in {region}' if region else ''}")
        return value

    def host(self, name: str) -> str:
        value = self._plain(name)
        if value and _HOST.fullmatch(value) is None:
            raise WrongSwitch(name, "a host name in lower case, such as kb.example.com")
        return value

    def email(self, name: str) -> str:
        value = self._plain(name)
        if value and _EMAIL.fullmatch(value) is None:
            raise WrongSwitch(name, "one e-mail address")
        return value

    def ids(self, name: str, prefix: str) -> tuple[str, ...]:
        """Separated by commas."""
        value = self._plain(name)
        found = tuple(part.strip() for part in value.split(",")) if value else ()
        if any(re.fullmatch(rf"{prefix}-[0-9a-f]{{8,17}}", each) is None for each in found):
            raise WrongSwitch(name, f"ids such as {prefix}-0a1b2c3d, separated by commas")
        return found

    def origins(self, name: str) -> tuple[str, ...]:
        """Separated by commas."""
        value = self._plain(name)
        found = tuple(dict.fromkeys(part.strip() for part in value.split(","))) if value else ()
        if any(comparable_origin(each) != each or not each.startswith("https://") for each in found):
            raise WrongSwitch(name, "origins of web pages such as https://app.example.com, separated by commas")
        return found

    def tags(self, name: str) -> tuple[tuple[str, str], ...]:
        wanted = "a JSON object of at most 40 tags, text by name; aws: may not begin a name"
        found = self._object(name, wanted)
        if len(found) > 40 or not all(_is_tag(key, value) for key, value in found.items()):
            raise WrongSwitch(name, wanted)
        return tuple(sorted((key, str(value)) for key, value in found.items()))

    def concurrency(self, name: str, functions: Collection[str]) -> tuple[tuple[str, int], ...]:
        wanted = f"a JSON object, number of instances (1 to 10000) by function; functions are {', '.join(functions)}"
        found = self._object(name, wanted)
        if not all(key in functions and _is_count(value) for key, value in found.items()):
            raise WrongSwitch(name, wanted)
        return tuple(sorted((key, _count(value)) for key, value in found.items()))

    def throttles(self, name: str, known: Collection[str]) -> tuple[tuple[str, Throttle], ...]:
        wanted = (
            'a JSON object such as {"search": {"rate_per_s": 100, "burst": 200}} whose keys are functions or routes '
            "(POST /api/v1/knowledge/search) and whose numbers are 1 to 10000"
        )
        found = self._object(name, wanted)
        for key, value in found.items():
            if key not in known or not isinstance(value, dict) or set(value) != {"rate_per_s", "burst"}:
                raise WrongSwitch(name, wanted)
            if not all(_is_count(each) for each in value.values()):
                raise WrongSwitch(name, wanted)
        return tuple(sorted((key, _throttle(value)) for key, value in found.items()))

    def _plain(self, name: str) -> str:
        value = self.given.get(name)
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int | float):
            return str(int(value)) if value == int(value) else str(value)
        if not isinstance(value, str):
            raise WrongSwitch(name, "plain text")
        return value.strip()

    def _object(self, name: str, wanted: str) -> Mapping[str, object]:
        value = self.given.get(name, {})
        if isinstance(value, str):
            try:
                value = json.loads(value or "{}")
            except ValueError:
                raise WrongSwitch(name, wanted) from None
        if not isinstance(value, Mapping):
            raise WrongSwitch(name, wanted)
        return value


def _is_tag(key: object, value: object) -> bool:
    named = isinstance(key, str) and 0 < len(key) <= 128 and not key.lower().startswith("aws:")
    return named and isinstance(value, str) and len(value) <= 256


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value in range(1, 10_001)


def _count(value: object) -> int:
    assert isinstance(value, int | float)  # noqa: S101  # checked before
    return int(value)


def _throttle(value: object) -> Throttle:
    assert isinstance(value, dict)  # noqa: S101  # checked before
    return Throttle(rate_per_s=_count(value["rate_per_s"]), burst=_count(value["burst"]))
