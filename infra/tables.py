"""The five tables, as data: the stack creates them from this list and so does the embedded runtime.

Every table has the string keys `pk` and `sk` and the TTL attribute `expires_at` (Unix seconds, whole).
What lies in each, by partition key:

    registrations-public    PROVIDER (sk = id), NAME (sk = key of the name), GENERATION (sk = -),
                            INSTANCE (sk = id), INSTANCE_NAME (sk = key of the name),
                            BINDING_TARGET (sk = instance id and remote id: what a provider is bound to),
                            CREDENTIAL (sk = id, class pub), ORIGIN#<origin> (sk = credential id),
                            FRONT (sk = -: digests of what a distribution in front sends)
    registrations-internal  PROVIDER, NAME, GENERATION, INSTANCE, INSTANCE_NAME, BINDING_TARGET, FRONT,
                            CREDENTIAL (adm, agt, ast), ROOT (sk = -, root's switch), AUDIT (sk = entry id),
                            INSTANCE_CREDENTIAL (sk = keyed fingerprint of origin and credential: who uses it, over
                            both exposure profiles), FINGERPRINT_KEY (sk = -: the key of those fingerprints)
    cards                   COLLECTION (sk = id), COLLECTION_NAME (sk = exposure and key of the name),
                            CARD#<collection id> (sk = card id), KEY#<collection id> (sk = normalised key)
    ledger-public           RATE#<subject> (sk = minute), CIRCUITS (sk = -: the circuits of the customer lane),
                            HISTORY#<provider id> (sk = time: what became of its circuit on this lane)
    ledger-internal         RATE#<subject> (sk = minute), IDEMPOTENCY#<hash> (sk = -),
                            POOL#<pool> (sk = KEYS: the key in use and the resting ones; ALLOWANCE: the day's units),
                            QUOTE#<id> (sk = -), RECEIPT#<credential id> (sk = id of the request),
                            CIRCUITS and HISTORY#<provider id> (of the agent lane, and what the probe saw),
                            HEALTH (sk = -: the probe's last run; sk = provider id: what it found)
"""

from __future__ import annotations

from dataclasses import dataclass

PARTITION_KEY = "pk"
SORT_KEY = "sk"
TTL_ATTRIBUTE = "expires_at"


@dataclass(frozen=True, slots=True)
class Table:
    """`name` is the logical name; `variable` tells a function the physical one."""

    name: str
    variable: str


REGISTRATIONS_PUBLIC = Table("registrations-public", "KG_TABLE_REGISTRATIONS_PUBLIC")
REGISTRATIONS_INTERNAL = Table("registrations-internal", "KG_TABLE_REGISTRATIONS_INTERNAL")
CARDS = Table("cards", "KG_TABLE_CARDS")
LEDGER_PUBLIC = Table("ledger-public", "KG_TABLE_LEDGER_PUBLIC")
LEDGER_INTERNAL = Table("ledger-internal", "KG_TABLE_LEDGER_INTERNAL")
TABLES = (REGISTRATIONS_PUBLIC, REGISTRATIONS_INTERNAL, CARDS, LEDGER_PUBLIC, LEDGER_INTERNAL)
