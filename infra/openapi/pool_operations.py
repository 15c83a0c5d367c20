"""The operations of the pools of keys and their allowances."""

from __future__ import annotations

from infra.openapi.operation import IfMatch, Operation
from shared.web.allowance_models import AllowancePut, AllowanceShown, AllowancesShown
from shared.web.pool_models import KeyRest, KeysWake, PoolShown, PoolsShown

_ADMIN = ("adminToken",)
_POOLS = "/api/v1/knowledge/pools"
_POOL = _POOLS + "/{pool}"
_ALLOWANCES = "/api/v1/knowledge/allowances"
_ALLOWANCE = _ALLOWANCES + "/{pool}"

POOL_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("GET", _POOLS): Operation(
        id="listPools",
        tag="Live services",
        summary="Show the live services and their keys by name: which one is in use, which ones rest",
        description=(
            "No key is shown, nothing is said of what an account has left, and no service is asked. Keys are read from "
            "the secret store, at most five minutes old."
        ),
        tokens=_ADMIN,
        answer=(PoolsShown,),
    ),
    ("POST", _POOL + "/rest"): Operation(
        id="restKey",
        tag="Live services",
        summary="Let a key rest: no instance sends it until then",
        description="A rest that already ends later stays as it is.",
        tokens=_ADMIN,
        request=(KeyRest,),
        answer=(PoolShown,),
    ),
    ("POST", _POOL + "/wake"): Operation(
        id="wakeKeys",
        tag="Live services",
        summary="End the rest of one key, or of all keys of the pool",
        description=(
            "For an account that was topped up, say. A service that still refuses the key makes it rest again. One "
            "that takes no keys rests as a whole, and is woken without a `key`."
        ),
        tokens=_ADMIN,
        request=(KeysWake,),
        body_required=False,
        answer=(PoolShown,),
    ),
    ("GET", _ALLOWANCES): Operation(
        id="listAllowances",
        tag="Live services",
        summary="Show how many operations each pool may make in 24 hours, and has made",
        description="Counts of the gateway's own operations, never money.",
        tokens=_ADMIN,
        answer=(AllowancesShown,),
    ),
    ("GET", _ALLOWANCE): Operation(
        id="getAllowance",
        tag="Live services",
        summary="Show one allowance",
        tokens=_ADMIN,
        answer=(AllowanceShown,),
        has_etag=True,
    ),
    ("PUT", _ALLOWANCE): Operation(
        id="setAllowance",
        tag="Live services",
        summary="Set an allowance, and settle operations whose end nobody knew",
        description=(
            "`limit` is what the pool may do in 24 hours; 0 closes it. `review` says of unknown operations how many "
            "were made (they count as of now) and how many were not (they are free again)."
        ),
        tokens=_ADMIN,
        request=(AllowancePut,),
        answer=(AllowanceShown,),
        problems=("nothing_unknown",),
        if_match=IfMatch.REQUIRED,
        has_etag=True,
    ),
}
