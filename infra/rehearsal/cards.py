"""Keeps a glossary in the deployed gateway: imports cards, looks them up on both lanes, has them cleared away."""

from __future__ import annotations

import json
from collections.abc import Mapping

import boto3

from infra.cli.demo_cards import seed_cards
from infra.cli.http import Declined
from infra.cli.seed import Seeded
from infra.rehearsal.searches import Callers, DeployedClient
from infra.rehearsal.steps import Failed

_COLLECTIONS = "/api/v1/collections"
TERM, TITLE = "渡轮卡", "Ferry pass"
_INTERNAL_TERM = "GULL-SHADOW"


def keep_cards(callers: Callers, seeded: Seeded, *, root_token: str) -> str:
    """Fills both demo collections through the deployed admin API. Returns how many cards there are."""
    admin = callers.bearer(root_token)
    seed_cards(admin, seeded)
    listed = admin.call("GET", _COLLECTIONS).body["collections"]
    return f"{sum(each['cardCount'] for each in listed)} cards in {len(listed)} collections"


def look_cards_up(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless an agent finds public and internal words, and an assistant the public ones alone."""
    safe, internal = seeded.collections["customer_safe"], seeded.collections["agent_only"]
    agent, assistant = (callers.bearer(seeded.tokens[name]) for name in ("agent", "assistant"))
    for caller in (agent, assistant):
        titles = [card["title"] for card in _found(caller, safe, TERM)]
        if titles != [TITLE]:
            raise Failed(f"Looking up {TERM} found {titles}.")
    if not _found(agent, internal, _INTERNAL_TERM):
        raise Failed("The agent did not find an internal word.")
    try:
        _found(assistant, internal, _INTERNAL_TERM)
    except Declined as declined:
        if declined.status == 404:
            return "public and internal words for the agent, public ones alone for the assistant"
        raise
    raise Failed("The assistant reached an internal collection.")


def clear_cards(callers: Callers, seeded: Seeded, outputs: Mapping[str, str], *, root_token: str) -> str:
    """Deletes both collections and has the deployed probe clear them away. Raises `Failed` unless nothing is left."""
    admin = callers.bearer(root_token)
    for collection_id in seeded.collections.values():
        path = f"{_COLLECTIONS}/{collection_id}"
        admin.call("DELETE", path, If_Match=admin.call("GET", path).etag or "")
    answer = boto3.client("lambda").invoke(FunctionName=outputs["FunctionProbeName"], Payload=b"{}")
    said = json.loads(answer["Payload"].read())
    left = boto3.client("dynamodb").scan(TableName=outputs["TableCardsName"], Select="COUNT")["Count"]
    if said.get("isDone") is not True or left:
        raise Failed(f"The probe said {said} and left {left} rows.")
    return "both collections were deleted, the probe cleared them away, and no row is left"


def _found(caller: DeployedClient, collection_id: str, term: str) -> list[dict[str, str]]:
    path = f"{_COLLECTIONS}/{collection_id}/context-cards/lookup"
    cards: list[dict[str, str]] = caller.post(path, {"terms": [term]}).body["results"][term]
    return cards
