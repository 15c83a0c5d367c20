"""The routes of credentials."""

from __future__ import annotations

from typing import cast

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.domain.identifiers import ROOT_ID
from shared.services.change_credential import ChangeCredential
from shared.services.issue_credential import IssueCredential, Issued, NewCredential
from shared.services.list_credentials import ListCredentials
from shared.services.replay import Replay
from shared.services.revoke_credential import RevokeCredential
from shared.services.rotate_credential import RotateCredential
from shared.services.switch_root import SwitchRoot
from shared.services.update_credential import CredentialChanges, UpdateCredential
from shared.web.api import answer, nothing
from shared.web.credential_models import (
    CredentialCreate,
    CredentialPage,
    CredentialPatch,
    CredentialShown,
    CredentialWithToken,
)
from shared.web.cursors import List, cursor_of
from shared.web.etags import etag_of, generation_named, required_generation
from shared.web.fields import Nothing
from shared.web.idempotency_keys import once_of
from shared.web.page_queries import page_query
from shared.web.wire import read_body

PATH = "/api/v1/credentials"
ONE = PATH + "/{credential_id}"


def add_credential_routes(desk: Desk, parts: Parts) -> None:
    change = ChangeCredential(store=parts.credential_store, clock=parts.clock)
    _add_reading(desk, parts)
    _add_issuing(desk, parts)
    _add_changing(desk, parts, change)
    _add_rotating(desk, parts, change)


def _add_reading(desk: Desk, parts: Parts) -> None:
    credentials = ListCredentials(store=parts.credential_store)

    @desk.route("GET", PATH)
    async def list_credentials(call: Call) -> Response[str]:
        query = page_query(call.event, List.CREDENTIALS)
        page = await credentials.page(limit=query.limit, after=query.after)
        shown = CredentialPage(
            credentials=tuple(CredentialShown.of(each) for each in page.items),
            next_cursor=cursor_of(List.CREDENTIALS, page.next_after) if page.next_after else None,
        )
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("GET", ONE)
    async def get_credential(_call: Call, credential_id: str) -> Response[str]:
        return _shown(CredentialShown.of(await credentials.one(credential_id)))


def _add_issuing(desk: Desk, parts: Parts) -> None:
    issue = IssueCredential(
        store=parts.credential_store,
        replay=Replay(idempotency=parts.idempotency),
        clock=parts.clock,
        allow_loopback_http=parts.allow_loopback_http,
    )

    @desk.route("POST", PATH)
    async def create_credential(call: Call) -> Response[str]:
        body = read_body(CredentialCreate, call.event)
        wanted = NewCredential(
            credential_class=body.credential_class,
            name=body.name,
            grants=body.grants,
            origins=body.origins,
            allowed_providers=body.allowed_providers,
            rate_per_minute=body.rate_per_minute,
            address_rate_per_minute=body.address_rate_per_minute,
            expires_at=body.expires_at.timestamp() if body.expires_at else None,
        )
        issued = await issue(wanted, by=call.principal, once=once_of(call.event, call.principal))
        return _with_token(issued, status=201)


def _add_changing(desk: Desk, parts: Parts, change: ChangeCredential) -> None:
    update = UpdateCredential(
        store=parts.credential_store,
        change=change,
        clock=parts.clock,
        allow_loopback_http=parts.allow_loopback_http,
    )
    switch_root = SwitchRoot(store=parts.credential_store, clock=parts.clock)
    revoke = RevokeCredential(store=parts.credential_store, change=change)

    @desk.route("PATCH", ONE)
    async def update_credential(call: Call, credential_id: str) -> Response[str]:
        generation = required_generation(call.event)
        changes = cast("CredentialChanges", read_body(CredentialPatch, call.event).changes())
        if credential_id == ROOT_ID:
            credential = await switch_root(changes, expected_generation=generation, by=call.principal)
        else:
            credential = await update(credential_id, changes, expected_generation=generation, by=call.principal)
        return _shown(CredentialShown.of(credential))

    @desk.route("DELETE", ONE)
    async def delete_credential(call: Call, credential_id: str) -> Response[str]:
        await revoke(credential_id, expected_generation=required_generation(call.event), by=call.principal)
        return nothing()


def _add_rotating(desk: Desk, parts: Parts, change: ChangeCredential) -> None:
    rotate = RotateCredential(store=parts.credential_store, change=change, replay=Replay(idempotency=parts.idempotency))

    @desk.route("POST", ONE + "/rotate")
    async def rotate_credential(call: Call, credential_id: str) -> Response[str]:
        read_body(Nothing, call.event, empty=True)
        issued = await rotate(
            credential_id,
            expected_generation=generation_named(call.event),
            by=call.principal,
            once=once_of(call.event, call.principal),
        )
        return _with_token(issued, status=200)


def _with_token(issued: Issued, *, status: int) -> Response[str]:
    return _shown(CredentialWithToken.with_token(issued.credential, issued.token), status=status)


def _shown(shown: CredentialShown, *, status: int = 200) -> Response[str]:
    headers = {"ETag": etag_of(shown.generation)}
    if status == 201:
        headers["Location"] = f"{PATH}/{shown.id}"
    return answer(shown.model_dump_json(by_alias=True), status=status, headers=headers)
