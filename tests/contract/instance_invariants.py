"""What holds around instances and bindings between any two writes, read off the raw rows of one table."""

from __future__ import annotations

from collections import defaultdict

from shared.adapters.attributes import Item
from shared.domain.names import name_key


def check_instances(instances: list[Item], providers: list[Item], names: list[Item], targets: list[Item]) -> None:
    bound = [item for item in providers if "binding" in item]
    assert {item["sk"]["S"]: item["instance_id"]["S"] for item in names} == {
        name_key(item["name"]["S"]): item["sk"]["S"] for item in instances
    }
    assert {item["sk"]["S"]: item["provider_id"]["S"] for item in targets} == {
        "#".join(_target_of(item)): item["sk"]["S"] for item in bound
    }
    listed = {item["sk"]["S"]: set(item["binding_ids"]["SS"]) for item in instances if "binding_ids" in item}
    there: dict[str, set[str]] = defaultdict(set)
    for item in bound:
        there[_target_of(item)[0]].add(item["sk"]["S"])
    assert listed == there, "each instance lists its bindings, and no binding is without its instance"
    _check_switched_off(instances, bound)


def check_uses(uses: list[Item], owners: list[Item]) -> None:
    """`owners` are instances and providers of both exposure profiles."""
    expected: dict[str, set[str]] = defaultdict(set)
    for item in owners:
        if "credential_key" in item:
            expected[item["credential_key"]["S"]].add(item["sk"]["S"])
    assert {item["sk"]["S"]: set(item["owner_ids"]["SS"]) for item in uses} == expected
    for item in uses:
        assert len({owner_id[:2] for owner_id in item["owner_ids"]["SS"]}) == 1, "of one exposure profile"


def check_bindings_history(audit: list[Item], providers: list[Item], instances: list[Item]) -> None:
    """A binding that was made is there, unless it was unbound or went with its instance, which its line names."""
    there = {item["sk"]["S"] for item in providers if "binding" in item}
    instance_ids = {item["sk"]["S"] for item in instances}
    made = {line["resource"]["S"].partition("/")[2]: line for line in audit if _is(line, "binding/", "created")}
    gone = {line["resource"]["S"].partition("/")[2] for line in audit if _is(line, "binding/", "deleted")}
    assert there == {one for one, line in made.items() if one not in gone and line["actor"]["S"] in instance_ids}


def _check_switched_off(instances: list[Item], bound: list[Item]) -> None:
    """The writers of these tests switch bindings off with each change of their instance."""
    generations = {item["sk"]["S"]: item["generation"]["N"] for item in instances}
    for item in bound:
        is_off = item["status"]["S"] == "disabled"
        assert is_off == (generations[_target_of(item)[0]] != "1")
        assert item["generation"]["N"] == ("2" if is_off else "1")


def _target_of(item: Item) -> tuple[str, str]:
    binding = item["binding"]["M"]
    return binding["instance_id"]["S"], binding["remote_id"]["S"]


def _is(line: Item, prefix: str, action: str) -> bool:
    return line["resource"]["S"].startswith(prefix) and line["action"]["S"] == action
