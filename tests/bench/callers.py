"""The same search by an agent, an assistant, a widget and the MCP tool: what each costs beside the bare calls, and the
tool beside REST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.bench.instances import Ask, Bare, Searching, complete, heard, measured
from tests.bench.measure import Row, compared, cpu_ms, each_of, wall_ms
from tests.bench.world import World

PROVIDERS = 5
BAR_OF_TOOL = 1.5  # it says everything twice: as structure, and as text for clients that read no structure
_Measure: TypeAlias = Callable[[Ask], Callable[[], float]]


def rows(world: World) -> Iterator[Row]:
    url = world.provider(0)
    gateway = world.gateway([url] * PROVIDERS)
    searching = Searching(gateway)
    cpu, wall = _by(each_of(5, cpu_ms)), _by(each_of(5, wall_ms))
    agent, assistant = searching.agent(gateway.ids), searching.assistant()
    bare = measured(Bare(gateway.environment).gathering(url, PROVIDERS), heard, by=each_of(5, cpu_ms))
    for caller, ask in (("agent", agent), ("assistant", assistant), ("widget", searching.widget())):
        note = "bare has no store read" + (
            "; a widget gets ten results, the others fifty" if caller == "widget" else ""
        )
        yield compared(f"{caller} search, 5 x 10 results", cpu(ask), bare, unit="ms CPU", bar=None, note=note)
    tool = searching.tool()
    for caller, token, rest in (("agent", gateway.agent, agent), ("assistant", gateway.assistant, assistant)):
        yield from _tool_beside_rest(caller, tool(token), rest, cpu=cpu, wall=wall)


def _tool_beside_rest(caller: str, tool: Ask, rest: Ask, *, cpu: _Measure, wall: _Measure) -> Iterator[Row]:
    name, note = f"MCP knowledge_search / REST, {caller}", "the same credential and providers"
    yield compared(f"{name}: CPU", cpu(tool), cpu(rest), unit="ms CPU", bar=BAR_OF_TOOL, note=note)
    yield compared(f"{name}: time", wall(tool), wall(rest), unit="ms", bar=None, note=note)


def _by(measure: Callable[[Ask], float]) -> _Measure:
    return lambda ask: measured(ask, complete(providers=PROVIDERS), by=measure)
