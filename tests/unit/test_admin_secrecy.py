"""A secret that is shown once appears nowhere else: not in a later answer, the audit, the log, a record or a repr."""

from __future__ import annotations

from typing import Any

from shared.services.issue_credential import Issued
from shared.services.register import Registered
from shared.web.contract_provider_models import ContractWithSecret
from shared.web.credential_models import CredentialWithToken
from tests.support.admin_stage import A_PROVIDER, AUDIT, CREDENTIALS, PROVIDERS, ROOT_SECRET, AdminStage
from tests.support.builders import SIGNING_SECRET, a_credential, a_provider

A_CREDENTIAL = {"class": "pub", "name": "Widget", "origins": ["https://help.fern-desk.test"]}


def everything_after(stage: AdminStage) -> tuple[set[str], str]:
    """Every secret that a whole life of things shows, and all text that is left or said beside those answers."""
    said: list[str] = []
    secrets: set[str] = set()

    def call(method: str, path: str, body: Any = None, **how: Any) -> Any:
        answered = stage.call(method, path, body, **how)
        assert answered.status < 500, answered.text
        fresh = (
            {answered.json[name] for name in ("secret", "token") if answered.json.get(name)} if answered.text else ()
        )
        secrets.update(fresh)
        said.append("" if fresh else answered.text)
        said.append(repr(answered.headers))
        return answered

    provider = call("POST", PROVIDERS, A_PROVIDER, key="k1")
    call("POST", PROVIDERS, A_PROVIDER, key="k1")
    path = provider.headers["Location"]
    call("POST", f"{path}/rotate-secret", {"windowHours": 5}, key="k2")
    call("POST", f"{path}/rotate-secret", {"windowHours": 5}, key="k2")
    call("POST", f"{path}/rotate-secret")
    call("POST", f"{path}/test", {"query": "ferry"})
    call("POST", f"{path}/capabilities")
    call("PATCH", path, {"priority": 3}, if_match='"2"')
    call("GET", path)
    call("GET", PROVIDERS)
    credential = call("POST", CREDENTIALS, A_CREDENTIAL, key="k3")
    call("POST", CREDENTIALS, A_CREDENTIAL, key="k3")
    path = credential.headers["Location"]
    call("POST", f"{path}/rotate", key="k4")
    call("POST", f"{path}/rotate", key="k4")
    call("PATCH", path, {"name": "Renamed"}, if_match='"2"')
    call("GET", path)
    call("GET", CREDENTIALS)
    call("GET", f"{CREDENTIALS}/root")
    call("GET", AUDIT)
    call("DELETE", path, if_match='"3"')
    left = [repr(stage.store.audit), repr(stage.store.idempotency), stage.log.getvalue()]
    left += [repr(stage.store.credentials), repr(stage.store.registrations)]
    return secrets, "\n".join(said + left)


def test_no_secret_appears_beside_the_one_answer_that_shows_it() -> None:
    stage = AdminStage()
    secrets, text = everything_after(stage)
    stage.close()

    assert len(secrets) == 4
    for secret in secrets | {ROOT_SECRET, stage.root_token}:
        assert secret not in text
        assert secret.rpartition("_")[2] not in text


def test_no_repr_shows_a_secret() -> None:
    shown_once = "kgs_" + "77" * 32
    provider = a_provider()
    credential = a_credential()
    reprs = [
        repr(Registered(provider, shown_once)),
        repr(Issued(credential, shown_once)),
        repr(ContractWithSecret.with_secret(provider, shown_once, now=0.0)),
        repr(CredentialWithToken.with_token(credential, shown_once)),
    ]

    assert not [text for text in reprs if shown_once in text or SIGNING_SECRET in text or "digest=" in text]


def test_a_report_of_a_wrong_body_repeats_no_value_of_it() -> None:
    stage = AdminStage()
    sentinel = "kgs_" + "99" * 32
    bodies: list[dict[str, Any]] = [
        A_PROVIDER | {"priority": sentinel},
        A_PROVIDER | {"baseUrl": f"https://user:{sentinel}@kb.fern-desk.test"},
        A_PROVIDER | {"name": sentinel * 10},
        A_PROVIDER | {"module": sentinel.upper()},
    ]
    texts = [stage.call("POST", PROVIDERS, body).text for body in bodies]
    stage.close()

    assert not [text for text in [*texts, stage.log.getvalue()] if sentinel in text or sentinel.upper() in text]
