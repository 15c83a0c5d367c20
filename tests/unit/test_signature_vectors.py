"""The published signature vectors: this gateway's signer, the reference provider's verifier and the conformance
suite's own all say the same of each.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from knowledge_conformance import signing

from fixtures.reference_provider.nonces import Nonces
from fixtures.reference_provider.signatures import BadSignature, verify
from shared.domain.registrations import SigningSecrets
from shared.domain.signatures import sign, signature_header

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "docs" / "vectors" / "signatures-v1.json"
FROZEN = ROOT / "tests" / "conformance" / "knowledge_conformance" / "v1" / "signature-vectors.json"
VECTORS: list[dict[str, Any]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))["vectors"]
ACCEPTED = [vector for vector in VECTORS if vector["verdict"] == "accept"]


def by_name(vector: dict[str, Any]) -> str:
    return str(vector["name"])


def body_of(vector: dict[str, Any]) -> bytes:
    if "bodyBase64" in vector:
        return base64.b64decode(vector["bodyBase64"], validate=True)
    return str(vector["body"]).encode()


def reference_verdict(vector: dict[str, Any]) -> str:
    """What the reference provider does with a request: verify, then remember the nonce."""
    nonces = Nonces()
    for nonce in vector.get("seen", ()):
        assert nonces.record(nonce, now=vector["now"])
    try:
        signature = verify(vector["header"], body_of(vector), secrets=vector["secrets"], now=vector["now"])
    except BadSignature as bad:
        return bad.reason
    return "ok" if nonces.record(signature.nonce, now=vector["now"]) else "replayed"


@pytest.mark.parametrize("vector", VECTORS, ids=by_name)
def test_the_reference_provider_says_what_the_vector_says(vector: dict[str, Any]) -> None:
    assert reference_verdict(vector) == vector["reason"]


@pytest.mark.parametrize("vector", VECTORS, ids=by_name)
def test_the_conformance_suite_says_what_the_vector_says(vector: dict[str, Any]) -> None:
    said = signing.judge(
        vector["header"],
        body_of(vector),
        secrets=vector["secrets"],
        now=vector["now"],
        seen=vector.get("seen", ()),
    )
    assert said == vector["reason"]


@pytest.mark.parametrize("vector", ACCEPTED, ids=by_name)
def test_a_value_of_an_accepted_header_is_the_one_that_the_gateway_makes(vector: dict[str, Any]) -> None:
    values = {item.strip().removeprefix("v1=") for item in vector["header"].split(",")}
    t, nonce, body = vector["t"], vector["nonce"], body_of(vector)
    made = {sign(secret, timestamp=t, nonce=nonce, body=body) for secret in vector["secrets"]}
    assert made & values
    assert made == {signing.sign(s, timestamp=t, nonce=nonce, body=body) for s in vector["secrets"]}


@pytest.mark.parametrize("name", ["plain", "empty-body", "non-ascii-body", "rotation-holder-of-both"])
def test_the_gateways_own_header_is_the_vectors(name: str) -> None:
    vector = next(vector for vector in VECTORS if vector["name"] == name)
    secrets = SigningSecrets(*vector["secrets"])
    made = signature_header(secrets, timestamp=vector["t"], nonce=vector["nonce"], body=body_of(vector))
    assert made == vector["header"]
    values = [
        signing.sign(s, timestamp=vector["t"], nonce=vector["nonce"], body=body_of(vector)) for s in secrets_of(vector)
    ]
    assert signing.header(values, timestamp=vector["t"], nonce=vector["nonce"]) == made


def secrets_of(vector: dict[str, Any]) -> list[str]:
    return list(vector["secrets"])


def test_a_vector_can_be_had_with_nothing_of_ours() -> None:
    vector = VECTORS[0]
    signed = f"{vector['t']}.{vector['nonce']}.{vector['body']}".encode()
    value = hmac.new(vector["secrets"][0].encode(), signed, hashlib.sha256).hexdigest()
    assert vector["header"] == f"t={vector['t']},n={vector['nonce']},v1={value}"


def test_the_vectors_tell_every_reason_and_have_names_of_their_own() -> None:
    assert {vector["reason"] for vector in VECTORS} == {"ok", "malformed", "clock", "mismatch", "replayed"}
    assert all((vector["verdict"] == "accept") is (vector["reason"] == "ok") for vector in VECTORS)
    assert len({vector["name"] for vector in VECTORS}) == len(VECTORS) >= 30


def test_the_suite_carries_the_published_vectors() -> None:
    assert FROZEN.read_bytes() == PUBLISHED.read_bytes()
