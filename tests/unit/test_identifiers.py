"""Shapes of ids and tokens: what is accepted is exactly what is made."""

import pytest

from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.identifiers import (
    digest_of,
    exposure_of,
    fingerprint_of,
    format_token,
    is_credential_id,
    new_credential_id,
    new_provider_id,
    new_signing_secret,
    new_token_secret,
    parse_token,
    same_digest,
)

SECRET = "ab" * 32
ID = "a2b3c4d5e6f7ghij"


@pytest.mark.parametrize("credential_class", list(CredentialClass))
def test_a_made_token_reads_back(credential_class: CredentialClass) -> None:
    credential_id, secret = new_credential_id(), new_token_secret()

    token = parse_token(format_token(credential_class, credential_id, secret))

    assert token is not None
    assert (token.credential_class, token.credential_id, token.secret) == (credential_class, credential_id, secret)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kg_",
        f"kg_agt_{ID}",
        f"kg_agt_{ID}_{SECRET[:-1]}",
        f"kg_agt_{ID}_{SECRET}0",
        f"kg_agt_{ID}_{SECRET.upper()}",
        f"kg_AGT_{ID}_{SECRET}",
        f"kg_xyz_{ID}_{SECRET}",
        f"kg_agt_{ID.upper()}_{SECRET}",
        f"kg_agt_{ID[:-1]}_{SECRET}",
        f"kg_agt_{ID[:-1]}1_{SECRET}",  # 1 is no base32 digit
        f" kg_agt_{ID}_{SECRET}",
        f"kg_agt_{ID}_{SECRET}\n",
        f"kg_agt_root_{SECRET}",  # root is an admin
        f"kg_agt_{ID}_{'１' * 64}",
        "kg_agt_" + "a" * 10_000,
    ],
)
def test_a_malformed_token_is_none(text: str) -> None:
    assert parse_token(text) is None


def test_root_is_an_admin_token() -> None:
    token = parse_token(f"kg_adm_root_{SECRET}")

    assert token is not None
    assert token.credential_id == "root"


@pytest.mark.parametrize("profile", list(ExposureProfile))
def test_a_provider_id_names_its_exposure(profile: ExposureProfile) -> None:
    assert exposure_of(new_provider_id(profile)) is profile


@pytest.mark.parametrize("text", ["", "cs_", f"cs_{ID}x", f"CS_{ID}", f"xx_{ID}", ID, f"cs_{ID}\n", f"cs-{ID}"])
def test_a_malformed_provider_id_names_nothing(text: str) -> None:
    assert exposure_of(text) is None


def test_credential_ids_are_sixteen_base32_characters_or_root() -> None:
    assert is_credential_id(new_credential_id())
    assert is_credential_id("root")
    assert not is_credential_id("Root")
    assert not is_credential_id(new_credential_id() + "a")


def test_a_signing_secret_carries_256_bits() -> None:
    secret = new_signing_secret()

    assert secret.startswith("kgs_")
    assert len(bytes.fromhex(secret.removeprefix("kgs_"))) == 32
    assert secret != new_signing_secret()


def test_a_digest_matches_its_secret_alone() -> None:
    assert same_digest(digest_of(SECRET), digest_of(SECRET))
    assert not same_digest(digest_of(SECRET), digest_of(SECRET[:-1] + "c"))


def test_a_fingerprint_shows_16_digits_and_nothing_of_the_secret() -> None:
    assert len(fingerprint_of(SECRET)) == 16
    assert fingerprint_of(SECRET) not in SECRET
