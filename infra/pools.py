"""The secrets of the keyed pools, as data: the stack creates them from this list and so does the embedded runtime."""

from __future__ import annotations

from shared.domain.pools import Pool

# Tells a function where the pool's keys lie.
POOL_VARIABLES = {
    Pool.CONTEXT7: "KG_POOL_CONTEXT7",
    Pool.EXA: "KG_POOL_EXA",
    Pool.FIRECRAWL: "KG_POOL_FIRECRAWL",
}
# What a secret holds until an operator puts keys into it: a JSON object of numbered names.
NO_KEYS = "{}"
