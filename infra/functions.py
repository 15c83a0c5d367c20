"""The Lambda functions, as data: what each is told in its environment and what its role may do.

A function is one entry here, its routes in `infra/routes.py`, and `functions/<name>/`. Whatever no grant names is
refused. `partitions` narrows a grant to partition keys of the table; empty means all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from infra.tables import CARDS, LEDGER_INTERNAL, LEDGER_PUBLIC, REGISTRATIONS_INTERNAL, REGISTRATIONS_PUBLIC, Table
from shared.domain.exposure import ExposureProfile
from shared.domain.pools import Pool

PUBLIC = ExposureProfile.CUSTOMER_SAFE
INTERNAL = ExposureProfile.AGENT_ONLY

KEY_VARIABLES = {PUBLIC: "KG_KEY_PUBLIC", INTERNAL: "KG_KEY_INTERNAL"}
ROOT_SECRET_VARIABLE = "KG_ROOT_SECRET"
FRONT_VARIABLE = "KG_FRONT_REQUIRED"
RELEASE_VARIABLE = "KG_RELEASE"
TELLS_RELEASE = "assets"
ORIGINS_VARIABLE = "KG_MCP_ORIGINS"


@dataclass(frozen=True, slots=True)
class TableGrant:
    """`actions` are DynamoDB's names without the prefix. A transaction needs those of its parts."""

    table: Table
    actions: tuple[str, ...]
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """Use of one exposure's key, for ciphertexts whose encryption context names that exposure."""

    exposure: ExposureProfile
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """`tables`, the keys and the root secret are named in its environment; the grants are what its role may do.

    `reads_pools`: the pools whose service keys it may read, each named too. One that reads any asks live services.
    `every_min` above 0 has it run by the clock, every so many minutes; such a function has no routes.
    """

    name: str
    memory_mb: int
    tables: tuple[Table, ...] = ()
    table_grants: tuple[TableGrant, ...] = ()
    key_grants: tuple[KeyGrant, ...] = ()
    reads_root_secret: bool = False
    reads_pools: tuple[Pool, ...] = ()
    dials_out: bool = False
    every_min: int = 0
    timeout_s: int = 29
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def keys(self) -> tuple[ExposureProfile, ...]:
        return tuple(grant.exposure for grant in self.key_grants)


_COUNTED = ("RATE#*",)
_CIRCUITS = ("CIRCUITS",)
_HISTORY = ("HISTORY#*",)
_REGISTERED = ("BINDING_TARGET", "INSTANCE", "INSTANCE_NAME", "NAME", "PROVIDER")


def _rows_of(*pools: Pool) -> tuple[str, ...]:
    """Which key of a pool is in use, which ones rest, and what is left of its allowance."""
    return tuple(sorted(f"POOL#{pool}" for pool in pools))


_SEARCHED = (Pool.CONTEXT7, Pool.DEEPWIKI, Pool.EXA, Pool.MINTLIFY)

WIDGET = Function(
    name="widget",
    memory_mb=1024,
    tables=(REGISTRATIONS_PUBLIC, LEDGER_PUBLIC),
    table_grants=(
        TableGrant(REGISTRATIONS_PUBLIC, ("BatchGetItem", "GetItem", "Query")),
        TableGrant(LEDGER_PUBLIC, ("BatchGetItem", "PutItem", "UpdateItem")),
    ),
    key_grants=(KeyGrant(PUBLIC, ("Decrypt",)),),
    dials_out=True,
)

SEARCH = Function(
    name="search",
    memory_mb=1024,
    tables=(REGISTRATIONS_PUBLIC, REGISTRATIONS_INTERNAL, CARDS, LEDGER_PUBLIC, LEDGER_INTERNAL),
    table_grants=(
        TableGrant(REGISTRATIONS_PUBLIC, ("BatchGetItem", "GetItem"), ("GENERATION",)),
        TableGrant(REGISTRATIONS_PUBLIC, ("Query",), ("INSTANCE", "PROVIDER")),
        TableGrant(REGISTRATIONS_INTERNAL, ("BatchGetItem",), ("CREDENTIAL", "GENERATION")),
        TableGrant(REGISTRATIONS_INTERNAL, ("GetItem",), ("GENERATION",)),
        TableGrant(REGISTRATIONS_INTERNAL, ("Query",), ("INSTANCE", "PROVIDER")),
        TableGrant(CARDS, ("GetItem",), ("COLLECTION",)),
        TableGrant(CARDS, ("Query",), ("KEY#*",)),
        TableGrant(CARDS, ("BatchGetItem",), ("CARD#*", "COLLECTION")),
        TableGrant(LEDGER_INTERNAL, ("UpdateItem",), (*_CIRCUITS, *_rows_of(*_SEARCHED), *_COUNTED)),
        TableGrant(LEDGER_INTERNAL, ("GetItem",), _rows_of(*_SEARCHED)),
        TableGrant(LEDGER_INTERNAL, ("BatchGetItem",), _CIRCUITS),
        TableGrant(LEDGER_INTERNAL, ("PutItem",), _HISTORY),
        TableGrant(LEDGER_PUBLIC, ("BatchGetItem", "UpdateItem"), _CIRCUITS),
        TableGrant(LEDGER_PUBLIC, ("PutItem",), _HISTORY),
    ),
    key_grants=(KeyGrant(PUBLIC, ("Decrypt",)), KeyGrant(INTERNAL, ("Decrypt",))),
    reads_pools=(Pool.CONTEXT7, Pool.EXA),
    dials_out=True,
    settings=(("KG_AGENT_CACHE_S", "0"),),
)

# No key, no secret and no registration of a source: what it reads are cards, and the credential that asks.
LOOKUP = Function(
    name="lookup",
    memory_mb=1024,
    tables=(REGISTRATIONS_INTERNAL, CARDS, LEDGER_INTERNAL),
    table_grants=(
        TableGrant(REGISTRATIONS_INTERNAL, ("BatchGetItem",), ("CREDENTIAL",)),
        TableGrant(CARDS, ("GetItem",), ("COLLECTION",)),
        TableGrant(CARDS, ("Query",), ("KEY#*",)),
        TableGrant(CARDS, ("BatchGetItem",), ("CARD#*", "COLLECTION", "KEY#*")),
        TableGrant(LEDGER_INTERNAL, ("UpdateItem",), _COUNTED),
    ),
)

# Fetches single sources and runs tools for agents. Nothing customers may see is among what it reads.
LIVE = Function(
    name="live",
    memory_mb=512,
    tables=(REGISTRATIONS_INTERNAL, LEDGER_INTERNAL),
    table_grants=(
        TableGrant(REGISTRATIONS_INTERNAL, ("BatchGetItem",), ("CREDENTIAL", "GENERATION")),
        TableGrant(REGISTRATIONS_INTERNAL, ("GetItem",), ("GENERATION",)),
        TableGrant(REGISTRATIONS_INTERNAL, ("Query",), ("PROVIDER",)),
        TableGrant(LEDGER_INTERNAL, ("UpdateItem",), (*_CIRCUITS, *_rows_of(Pool.EXA, Pool.FIRECRAWL), *_COUNTED)),
        TableGrant(LEDGER_INTERNAL, ("GetItem",), (*_rows_of(Pool.EXA, Pool.FIRECRAWL), "QUOTE#*", "RECEIPT#*")),
        TableGrant(LEDGER_INTERNAL, ("BatchGetItem",), _CIRCUITS),
        TableGrant(LEDGER_INTERNAL, ("PutItem",), (*_HISTORY, "QUOTE#*", "RECEIPT#*")),
    ),
    reads_pools=(Pool.EXA, Pool.FIRECRAWL),
    dials_out=True,
)

# The tools of MCP clients: whatever the three functions above may do for a search, a look-up or an acquisition.
MCP = Function(
    name="mcp",
    memory_mb=1024,
    tables=(REGISTRATIONS_PUBLIC, REGISTRATIONS_INTERNAL, CARDS, LEDGER_PUBLIC, LEDGER_INTERNAL),
    table_grants=(
        TableGrant(REGISTRATIONS_PUBLIC, ("BatchGetItem", "GetItem"), ("GENERATION",)),
        TableGrant(REGISTRATIONS_PUBLIC, ("Query",), ("INSTANCE", "PROVIDER")),
        TableGrant(REGISTRATIONS_INTERNAL, ("BatchGetItem",), ("CREDENTIAL", "GENERATION")),
        TableGrant(REGISTRATIONS_INTERNAL, ("GetItem",), ("GENERATION",)),
        TableGrant(REGISTRATIONS_INTERNAL, ("Query",), ("INSTANCE", "PROVIDER")),
        TableGrant(CARDS, ("GetItem",), ("COLLECTION",)),
        TableGrant(CARDS, ("Query",), ("KEY#*",)),
        TableGrant(CARDS, ("BatchGetItem",), ("CARD#*", "COLLECTION", "KEY#*")),
        TableGrant(LEDGER_INTERNAL, ("UpdateItem",), (*_CIRCUITS, *_rows_of(*Pool), *_COUNTED)),
        TableGrant(LEDGER_INTERNAL, ("GetItem",), _rows_of(*Pool)),
        TableGrant(LEDGER_INTERNAL, ("BatchGetItem",), _CIRCUITS),
        TableGrant(LEDGER_INTERNAL, ("PutItem",), _HISTORY),
        TableGrant(LEDGER_PUBLIC, ("BatchGetItem", "UpdateItem"), _CIRCUITS),
        TableGrant(LEDGER_PUBLIC, ("PutItem",), _HISTORY),
    ),
    key_grants=(KeyGrant(PUBLIC, ("Decrypt",)), KeyGrant(INTERNAL, ("Decrypt",))),
    reads_pools=(Pool.CONTEXT7, Pool.EXA, Pool.FIRECRAWL),
    dials_out=True,
    settings=(("KG_AGENT_CACHE_S", "0"), (ORIGINS_VARIABLE, "")),
)

# Audit entries are put and read. No grant lets any role update or delete one.
ADMIN = Function(
    name="admin",
    memory_mb=512,
    tables=(REGISTRATIONS_PUBLIC, REGISTRATIONS_INTERNAL, CARDS, LEDGER_PUBLIC, LEDGER_INTERNAL),
    table_grants=(
        TableGrant(REGISTRATIONS_PUBLIC, ("GetItem",), ("CREDENTIAL", "INSTANCE", "PROVIDER")),
        TableGrant(REGISTRATIONS_PUBLIC, ("Query",), (*_REGISTERED, "CREDENTIAL")),
        TableGrant(REGISTRATIONS_PUBLIC, ("BatchGetItem",), ("PROVIDER",)),
        TableGrant(REGISTRATIONS_PUBLIC, ("ConditionCheckItem",), ("INSTANCE",)),
        TableGrant(REGISTRATIONS_PUBLIC, ("DeleteItem", "PutItem"), (*_REGISTERED, "CREDENTIAL", "ORIGIN#*")),
        TableGrant(REGISTRATIONS_PUBLIC, ("UpdateItem",), ("GENERATION", "INSTANCE", "PROVIDER")),
        TableGrant(
            REGISTRATIONS_INTERNAL,
            ("GetItem",),
            ("CREDENTIAL", "FINGERPRINT_KEY", "INSTANCE", "INSTANCE_CREDENTIAL", "PROVIDER", "ROOT"),
        ),
        TableGrant(REGISTRATIONS_INTERNAL, ("BatchGetItem",), ("CREDENTIAL", "PROVIDER")),
        TableGrant(REGISTRATIONS_INTERNAL, ("Query",), (*_REGISTERED, "AUDIT", "CREDENTIAL")),
        TableGrant(REGISTRATIONS_INTERNAL, ("ConditionCheckItem",), ("CREDENTIAL", "INSTANCE", "ROOT")),
        TableGrant(REGISTRATIONS_INTERNAL, ("DeleteItem",), (*_REGISTERED, "CREDENTIAL", "INSTANCE_CREDENTIAL")),
        TableGrant(
            REGISTRATIONS_INTERNAL, ("PutItem",), (*_REGISTERED, "AUDIT", "CREDENTIAL", "FINGERPRINT_KEY", "ROOT")
        ),
        TableGrant(
            REGISTRATIONS_INTERNAL, ("UpdateItem",), ("GENERATION", "INSTANCE", "INSTANCE_CREDENTIAL", "PROVIDER")
        ),
        TableGrant(LEDGER_INTERNAL, ("UpdateItem",), ("CIRCUITS", *_rows_of(*Pool), *_COUNTED)),
        TableGrant(LEDGER_INTERNAL, ("GetItem",), ("IDEMPOTENCY#*", *_rows_of(*Pool))),
        TableGrant(LEDGER_INTERNAL, ("PutItem",), ("HISTORY#*", "IDEMPOTENCY#*")),
        TableGrant(LEDGER_INTERNAL, ("BatchGetItem",), ("CIRCUITS",)),
        TableGrant(LEDGER_INTERNAL, ("Query",), ("HEALTH", "HISTORY#*")),
        TableGrant(LEDGER_PUBLIC, ("BatchGetItem", "UpdateItem"), ("CIRCUITS",)),
        TableGrant(LEDGER_PUBLIC, ("PutItem", "Query"), ("HISTORY#*",)),
        TableGrant(CARDS, ("GetItem",), ("CARD#*", "COLLECTION")),
        TableGrant(CARDS, ("BatchGetItem",), ("CARD#*", "KEY#*")),
        TableGrant(CARDS, ("Query",), ("CARD#*", "COLLECTION")),
        TableGrant(CARDS, ("PutItem",), ("CARD#*", "COLLECTION", "COLLECTION_NAME")),
        TableGrant(CARDS, ("UpdateItem",), ("COLLECTION", "KEY#*")),
        TableGrant(CARDS, ("DeleteItem",), ("CARD#*", "COLLECTION_NAME", "KEY#*")),
    ),
    key_grants=(KeyGrant(PUBLIC, ("Decrypt", "Encrypt")), KeyGrant(INTERNAL, ("Decrypt", "Encrypt"))),
    reads_root_secret=True,
    reads_pools=(Pool.CONTEXT7, Pool.EXA, Pool.FIRECRAWL),
    dials_out=True,
)

ASSETS = Function(name="assets", memory_mb=256)

# Looks at all providers, at no cost and with no key of a pool, and clears away deleted collections. Cards are deleted
# here; what says who deleted them is the admin's to write, as is every registration.
PROBE = Function(
    name="probe",
    memory_mb=512,
    tables=(REGISTRATIONS_PUBLIC, REGISTRATIONS_INTERNAL, CARDS, LEDGER_PUBLIC, LEDGER_INTERNAL),
    table_grants=(
        TableGrant(REGISTRATIONS_PUBLIC, ("BatchGetItem", "GetItem"), ("GENERATION",)),
        TableGrant(REGISTRATIONS_PUBLIC, ("Query",), ("INSTANCE", "PROVIDER")),
        TableGrant(REGISTRATIONS_INTERNAL, ("BatchGetItem", "GetItem"), ("GENERATION",)),
        TableGrant(REGISTRATIONS_INTERNAL, ("Query",), ("INSTANCE", "PROVIDER")),
        TableGrant(LEDGER_PUBLIC, ("BatchGetItem", "UpdateItem"), ("CIRCUITS",)),
        TableGrant(LEDGER_INTERNAL, ("BatchGetItem",), ("CIRCUITS",)),
        TableGrant(LEDGER_INTERNAL, ("DeleteItem", "Query"), ("HEALTH",)),
        TableGrant(LEDGER_INTERNAL, ("GetItem",), ("POOL#deepwiki", "POOL#mintlify")),
        TableGrant(LEDGER_INTERNAL, ("PutItem",), ("HEALTH", "HISTORY#*")),
        TableGrant(LEDGER_INTERNAL, ("UpdateItem",), ("CIRCUITS", "HEALTH", "POOL#deepwiki", "POOL#mintlify")),
        TableGrant(CARDS, ("GetItem",), ("COLLECTION",)),
        TableGrant(CARDS, ("Query",), ("CARD#*", "COLLECTION", "KEY#*")),
        TableGrant(CARDS, ("BatchWriteItem",), ("CARD#*", "KEY#*")),
        TableGrant(CARDS, ("DeleteItem",), ("COLLECTION",)),
    ),
    key_grants=(KeyGrant(PUBLIC, ("Decrypt",)), KeyGrant(INTERNAL, ("Decrypt",))),
    dials_out=True,
    every_min=5,
    timeout_s=60,
    settings=(("KG_PROBE_EVERY_S", "240"),),
)

FUNCTIONS = (SEARCH, WIDGET, LOOKUP, LIVE, MCP, ADMIN, ASSETS, PROBE)


def is_behind_front(function: Function) -> bool:
    """Whoever is asked over HTTP and reads data refuses, with a distribution in front, what did not come through it."""
    return bool(function.tables) and not function.every_min


def front_grants(function: Function) -> tuple[TableGrant, ...]:
    """How a function learns what the distribution sends, where nothing else lets it read that row."""
    if not is_behind_front(function) or function is WIDGET:
        return ()
    return (TableGrant(REGISTRATIONS_INTERNAL, ("GetItem",), ("FRONT",)),)
