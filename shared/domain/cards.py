"""Context cards: a glossary of exact keys. What a card is, and how its keys are made comparable.

collection id      csc_<16 base32> (customer_safe) or aoc_<16 base32> (agent_only)
card id            crd_<16 base32>
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.domain.exposure import ExposureProfile
from shared.domain.normal_forms import nfkc
from shared.errors import Invalid, Violation

MAX_KEYS = 32
MAX_KEY_CHARACTERS = 200
MAX_TITLE_CHARACTERS = 512
MAX_BODY_BYTES = 32 * 1024
MAX_DERIVED_KEYS = 40  # a card's write is one transaction, and replaces all of them at the worst
MAX_DERIVED_KEY_BYTES = 1_024

MAX_CARDS_PER_KEY = 100
MAX_CARDS_PER_COLLECTION = 50_000
MAX_KEYS_PER_COLLECTION = 120_000  # derived keys, counted for each card
MAX_KEY_BYTES_PER_COLLECTION = 4 * 1024 * 1024  # what a reader has to hold in memory to match a text

# What NFKC leaves of white space beside the space itself.
OTHER_WHITE_SPACE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"

_COLLECTION_PREFIX = {ExposureProfile.CUSTOMER_SAFE: "csc", ExposureProfile.AGENT_ONLY: "aoc"}
_COLLECTION_PROFILE = {prefix: profile for profile, prefix in _COLLECTION_PREFIX.items()}
_COLLECTION_ID = re.compile(r"(csc|aoc)_[a-z2-7]{16}", re.ASCII)
_CARD_ID = re.compile(r"crd_[a-z2-7]{16}", re.ASCII)


class CollectionStatus(StrEnum):
    ACTIVE = "active"
    DELETING = "deleting"  # a tombstone: gone for everybody, being cleared away


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """`generation` is the admin's ETag. `content_generation` moves with every write of a card, so that a copy of the
    keys can be known to be current. While `importing_until` (Unix seconds) lies ahead no copy is kept.
    """

    id: str
    name: str
    exposure_profile: ExposureProfile
    generation: int = 1
    content_generation: int = 1
    status: CollectionStatus = CollectionStatus.ACTIVE
    card_count: int = 0
    importing_until: float = 0.0
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """`norm_keys` are the keys it is found under, ascending. `generation` is the admin's ETag. `body` is Markdown."""

    id: str
    collection_id: str
    keys: tuple[str, ...]
    title: str
    body: str
    norm_keys: tuple[str, ...]
    generation: int = 1
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def shown_title(self) -> str:
        """An empty title shows the first key."""
        return self.title or self.keys[0]

    @property
    def key_bytes(self) -> int:
        return sum(len(key.encode()) for key in self.norm_keys)

    def says_the_same_as(self, other: Card) -> bool:
        """Whether both would be shown alike: what an import compares."""
        return (self.keys, self.title, self.body) == (other.keys, other.title, other.body)


@dataclass(frozen=True, slots=True)
class CustomerCard:
    """A card that the customer lane may show.

    Built by the customer's readers alone, out of items that say customer_safe themselves: having one in hand is the
    permission to show its title, body and keys on a customer path.
    """

    card: Card


def norm(text: str) -> str:
    """NFKC, case-folded, white space runs as one space, none at the ends. Format characters stay."""
    folded = nfkc(text).casefold()
    return folded if _is_single_spaced(folded) else " ".join(folded.split())


def _is_single_spaced(text: str) -> bool:
    """Usually, and known in a tenth of the time that it takes to part a text and put it together again."""
    at_an_end = text.startswith(" ") or text.endswith(" ")
    return not at_an_end and "  " not in text and not any(space in text for space in OTHER_WHITE_SPACE)


def derived_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """The keys that a card with these keys is found under: ascending, each once.

    Case-folding can undo a composition, so a key whose normal form has another normal form is found under both.
    Raises `Invalid` with a violation for each key that comes out empty or too long, and for too many of them.
    """
    violations = [v for place, key in enumerate(keys) if (v := _violation(place, key)) is not None]
    derived = {form for key in keys for form in _forms(key)}
    if len(derived) > MAX_DERIVED_KEYS:
        detail = f"Together they have {len(derived)} normal forms; at most {MAX_DERIVED_KEYS} are taken."
        violations.append(Violation("/keys", detail))
    if violations:
        raise Invalid("Correct the fields named in `errors`.", violations=tuple(violations))
    return tuple(sorted(derived))


def _forms(key: str) -> tuple[str, str]:
    once = norm(key)
    return once, norm(once)


def _violation(place: int, key: str) -> Violation | None:
    forms = _forms(key)
    if not all(forms):
        return Violation(f"/keys/{place}", "A key has at least one character that is not white space.")
    if any(len(form.encode()) > MAX_DERIVED_KEY_BYTES for form in forms):
        return Violation(f"/keys/{place}", f"Its normal form has more than {MAX_DERIVED_KEY_BYTES} bytes in UTF-8.")
    return None


def collection_exposure(collection_id: str) -> ExposureProfile | None:
    """The exposure profile that a collection's id names, or None for a malformed id."""
    match = _COLLECTION_ID.fullmatch(collection_id)
    return _COLLECTION_PROFILE[match[1]] if match else None


def is_card_id(text: str) -> bool:
    return _CARD_ID.fullmatch(text) is not None


def new_collection_id(profile: ExposureProfile) -> str:
    return f"{_COLLECTION_PREFIX[profile]}_{_sixteen_base32(secrets.token_bytes(10))}"


def new_card_id() -> str:
    return f"crd_{_sixteen_base32(secrets.token_bytes(10))}"


def card_id_of_row(collection_id: str, identity: str) -> str:
    """Always the same id for the same row of an import: by its own row id, or by what it says it is about."""
    digest = hashlib.sha256("\0".join((collection_id, identity)).encode()).digest()
    return f"crd_{_sixteen_base32(digest[:10])}"


def _sixteen_base32(ten_bytes: bytes) -> str:
    return base64.b32encode(ten_bytes).decode().lower()
