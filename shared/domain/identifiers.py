"""The shapes of ids, tokens and secrets, and how new ones are made.

provider id        cs_<16 base32> (customer_safe) or ao_<16 base32> (agent_only)
instance id        csi_<16 base32> or aoi_<16 base32>, likewise
credential id      <16 base32>, or the word `root`
token              kg_<class>_<id>_<64 hex>
signing secret     kgs_<64 hex>; the HMAC key is its UTF-8 text as shown
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from shared.domain.exposure import CredentialClass, ExposureProfile

ROOT_ID = "root"
_PREFIX = {ExposureProfile.CUSTOMER_SAFE: "cs", ExposureProfile.AGENT_ONLY: "ao"}
_PROFILE = {prefix: profile for profile, prefix in _PREFIX.items()}
_PROVIDER_ID = re.compile(r"(cs|ao)_[a-z2-7]{16}", re.ASCII)
_INSTANCE_ID = re.compile(r"(cs|ao)i_[a-z2-7]{16}", re.ASCII)
_CREDENTIAL_ID = re.compile(r"[a-z2-7]{16}", re.ASCII)
_TOKEN = re.compile(r"kg_(adm|agt|ast|pub)_([a-z2-7]{16}|root)_([0-9a-f]{64})", re.ASCII)
_MAX_TOKEN_CHARACTERS = 96


@dataclass(frozen=True, slots=True)
class Token:
    """A well-formed token, taken apart. Being well-formed proves nothing yet."""

    credential_class: CredentialClass
    credential_id: str
    secret: str


def parse_token(text: str) -> Token | None:
    """The parts of a token, or None for anything malformed: no read is spent on those."""
    if len(text) > _MAX_TOKEN_CHARACTERS or (match := _TOKEN.fullmatch(text)) is None:
        return None
    credential_class = CredentialClass(match[1])
    if match[2] == ROOT_ID and credential_class is not CredentialClass.ADMIN:
        return None
    return Token(credential_class=credential_class, credential_id=match[2], secret=match[3])


def format_token(credential_class: CredentialClass, credential_id: str, secret: str) -> str:
    return f"kg_{credential_class}_{credential_id}_{secret}"


def digest_of(secret: str) -> bytes:
    """SHA-256 of a token's secret part: what is stored."""
    return hashlib.sha256(secret.encode()).digest()


def same_digest(left: bytes, right: bytes) -> bool:
    """Compared in constant time, as bytes."""
    return hmac.compare_digest(left, right)


def fingerprint_of(secret: str) -> str:
    """What may be shown of a secret later: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


def exposure_of(provider_id: str) -> ExposureProfile | None:
    """The exposure profile that a provider id names, or None for a malformed id."""
    match = _PROVIDER_ID.fullmatch(provider_id)
    return _PROFILE[match[1]] if match else None


def exposure_of_instance(instance_id: str) -> ExposureProfile | None:
    """The exposure profile that an instance id names, or None for a malformed id."""
    match = _INSTANCE_ID.fullmatch(instance_id)
    return _PROFILE[match[1]] if match else None


def is_credential_id(text: str) -> bool:
    return text == ROOT_ID or _CREDENTIAL_ID.fullmatch(text) is not None


def new_provider_id(profile: ExposureProfile) -> str:
    return f"{_PREFIX[profile]}_{_sixteen_base32()}"


def new_instance_id(profile: ExposureProfile) -> str:
    return f"{_PREFIX[profile]}i_{_sixteen_base32()}"


def new_credential_id() -> str:
    return _sixteen_base32()


def new_token_secret() -> str:
    return secrets.token_hex(32)


def new_signing_secret() -> str:
    return f"kgs_{secrets.token_hex(32)}"


def new_nonce() -> str:
    """128 random bits, hex."""
    return secrets.token_hex(16)


def _sixteen_base32() -> str:
    return base64.b32encode(secrets.token_bytes(10)).decode().lower()
