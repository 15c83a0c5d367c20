"""What is in each function's zip: opened, read, and started with nothing but what the runtime ships."""

from __future__ import annotations

import ast
import importlib.util
import json
import platform
import re
import subprocess
import sys
import traceback
import zipfile
from pathlib import Path
from typing import Any

import pytest

from functions.assets.wiring import published
from infra.bundles import build, interpreters
from infra.bundles.archive import unzipped_bytes, write_zip
from infra.bundles.build import build_bundles
from infra.bundles.bytecode import compile_slim_tree, compiled
from infra.bundles.interpreters import interpreter
from infra.bundles.reach import NEVER_LOADED
from infra.bundles.slim import without_docstrings
from infra.bundles.target import ROOT, Target
from infra.bundles.wheels import installed_wheels
from infra.functions import FUNCTIONS
from infra.rehearsal.lambda_python import lambda_python
from tests.infra.synthesised import Synthesised

NAMES = [function.name for function in FUNCTIONS]
MOST_BYTES = 10_000_000

# Modules of the agent and admin lanes, by their beginning. The widget may hold none of them.
AGENT_CODE = (
    "functions/search",
    "functions/lookup",
    "functions/live",
    "functions/mcp",
    "functions/admin",
    "functions/assets",
    "functions/probe",
    "shared/adapters/catalog",
    "shared/adapters/registry",
    "shared/adapters/credential_store",
    "shared/adapters/audit",
    "shared/adapters/admin_guard",
    "shared/adapters/idempotency",
    "shared/adapters/root_secret",
    "shared/adapters/provider_items",
    "shared/adapters/transactions",
    "shared/ports/catalog",
    "shared/ports/registry",
    "shared/ports/credential_store",
    "shared/ports/audit_log",
    "shared/ports/idempotency",
    "shared/ports/root_secret",
    "shared/services/search.",
    "shared/services/agent_cache",
    "shared/services/admit.",
    "shared/services/admit_admin",
    "shared/services/admit_assistant",
    "shared/services/register",
    "shared/services/update_",
    "shared/services/rotate_",
    "shared/services/remove_",
    "shared/services/issue_",
    "shared/services/import_cards",
    "shared/services/clear_collections",
    "shared/assembly/checks",
    "shared/assembly/live_askers",
    "shared/assembly/searches",
    "shared/assembly/acquiring",
    "shared/services/check_signed",
    "shared/services/check_server",
    "shared/services/check_tools",
    "shared/services/looking",
    "shared/services/probe_",
    "shared/services/tend_circuits",
    "shared/adapters/health_",
    "shared/settings/probe",
    "shared/services/find_cards",
    "shared/services/search_for_assistant",
    "shared/services/look_up",
    "shared/services/match",
    "shared/adapters/automaton",
    "shared/adapters/vocabular",
    "shared/adapters/customer_card",
    "shared/adapters/customer_vocabular",
    "ahocorasick_rs",
    "shared/adapters/card",
    "shared/ports/card",
    "shared/domain/card",
    "shared/settings/cards",
    "shared/services/test_provider",
    "shared/domain/agent_answers",
    "shared/domain/agent_searches",
    "shared/domain/auditing",
    "shared/providers/alexandria",
    "shared/providers/context7",
    "shared/providers/deepwiki",
    "shared/providers/exa",
    "shared/providers/firecrawl",
    "shared/providers/mcp_",
    "shared/providers/mintlify",
    "shared/services/alexandria_",
    "shared/services/ask_live",
    "shared/adapters/quotes",
    "shared/adapters/receipts",
    "shared/services/metering",
    "shared/services/acquire",
    "shared/domain/live_configs",
    "shared/domain/pools",
    "shared/domain/key_pools",
    "shared/domain/allowances",
    "shared/adapters/pool_",
    "shared/adapters/allowance",
    "shared/adapters/internal_catalog",
    "shared/adapters/instances",
    "shared/adapters/credential_keys",
    "shared/adapters/binding_parts",
    "shared/ports/instances",
    "shared/ports/credential_keys",
    "shared/domain/private_authorities",
    "shared/settings/live",
    "shared/settings/mcp",
    "shared/web/mcp",
    "infra/",
    "tests/",
    "fixtures/",
)
INTERNAL_NAMES = (
    b"registrations-internal",
    b"ledger-internal",
    b"REGISTRATIONS_INTERNAL",
    b"TABLE_CARDS",
    b"LEDGER_INTERNAL",
    b"KEY_INTERNAL",
    b"ROOT_SECRET",
    b"KG_POOL",
    b"KG_LOCAL_ORIGINS",
)
SHIPPED_BY_RUNTIME = ("boto3/", "botocore/", "s3transfer/", "jmespath/", "dateutil/", "urllib3/", "six")
HAS_INTERPRETER = interpreter(Target().python_version) is not None


@pytest.fixture(scope="module")
def runnable() -> dict[str, Path]:
    """Bundles for the Python of the rehearsal on this machine, all of them from one look at what modules import."""
    architecture = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    return build_bundles(NAMES, Target(runtime=lambda_python().runtime, architecture=architecture))


def own(names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(("functions/", "shared/"))]


def test_every_function_has_a_zip_of_its_own(shipped: Synthesised) -> None:
    """Functions bundled from one source with equal options would share one asset, and one would get another's code."""
    bundles = {name: shipped.bundle(name) for name in NAMES}
    assert len(set(bundles.values())) == len(NAMES)
    for name in NAMES:
        handlers = [one for one in shipped.bundled(name) if re.search(r"/handler\.pyc?$", one)]
        assert [one.removesuffix("c") for one in handlers] == [f"functions/{name}/handler.py"]


def test_the_widget_carries_no_agent_code(shipped: Synthesised) -> None:
    carried = [name.replace("__pycache__/", "") for name in shipped.bundled("widget")]
    assert [name for name in carried if name.startswith(AGENT_CODE)] == []


def test_the_list_of_agent_code_names_modules_that_exist(shipped: Synthesised) -> None:
    carried = {name.replace("__pycache__/", "") for one in NAMES for name in shipped.bundled(one)}
    for beginning in AGENT_CODE:
        if beginning.startswith(("functions", "shared")):
            assert any(name.startswith(beginning) for name in carried), beginning


def test_the_widget_names_nothing_internal(shipped: Synthesised) -> None:
    with zipfile.ZipFile(shipped.bundle("widget")) as archive:
        carried = {name: archive.read(name) for name in own(archive.namelist())}
    assert [name for name, content in carried.items() if any(word in content for word in INTERNAL_NAMES)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_holds_what_the_runtime_does_not_ship(shipped: Synthesised, name: str) -> None:
    carried = shipped.bundled(name)
    assert [one for one in carried if one.startswith(SHIPPED_BY_RUNTIME)] == []
    assert any(one.startswith("aws_lambda_powertools/") for one in carried)
    assert any(one.startswith("pydantic_core/") and one.endswith("aarch64-linux-gnu.so") for one in carried)


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_is_at_most_ten_megabytes(shipped: Synthesised, name: str) -> None:
    size = unzipped_bytes(shipped.bundle(name))
    print(f"{name}: {size / 1e6:.2f} MB")
    assert size <= MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_every_module_has_bytecode_that_is_loaded_unchecked(shipped: Synthesised, name: str) -> None:
    """Where an interpreter of the runtime's version is installed; elsewhere there is none at all."""
    with zipfile.ZipFile(shipped.bundle(name)) as archive:
        names = set(archive.namelist())
        for module in (one for one in names if one.endswith(".py")):
            assert (str(compiled(Path(module), Target().python_version)) in names) is HAS_INTERPRETER
        for bytecode in (one for one in names if one.endswith(".pyc")):
            flags = int.from_bytes(archive.read(bytecode)[4:8], "little")
            assert flags == 0b01, f"{bytecode} would be compared with its source"


def test_what_is_published_is_in_the_bundle_that_serves_it(shipped: Synthesised) -> None:
    with zipfile.ZipFile(shipped.bundle("assets")) as archive:
        carried = {name: archive.read(name) for name in archive.namelist() if "/static/" in name}
    documents = published().documents
    assert {documents[path].data for path in documents} == set(carried.values())
    for name in (name for name in carried if "/schemas/" in name or name.endswith("openapi.json")):
        assert carried[name] == (ROOT / name.replace("functions/assets/static", "docs")).read_bytes()
    assert not any(name.endswith("openapi.json") for name in shipped.bundled("widget"))


def test_building_again_gives_the_same_bytes(
    shipped: Synthesised, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path)
    again = build_bundles(NAMES, Target())
    assert {name: path.read_bytes() for name, path in again.items()} == {
        name: shipped.bundle(name).read_bytes() for name in NAMES
    }


def test_a_bundle_that_is_there_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = build_bundles(["assets"], Target())
    monkeypatch.setattr(build, "write_zip", None)
    assert build_bundles(["assets"], Target()) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_starts_with_nothing_but_what_the_runtime_ships(
    runnable: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """In the Python of the rehearsal, which has boto3 and no other package. What is loaded when it is first needed can
    be loaded too.
    """
    python = lambda_python()
    with zipfile.ZipFile(runnable[name]) as archive:
        archive.extractall(tmp_path)
        modules = [one.removesuffix("c") for one in own(archive.namelist()) if re.search(r"\.pyc?$", one)]
    ours = [one.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for one in modules]
    assert f"functions.{name}.wiring" in ours
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import functions.{name}.handler as it; "
        "print(callable(it.handler), 'pydantic.v1' in sys.modules)\n"
        f"import importlib\nfor name in {ours!r}: importlib.import_module(name)"
    )
    environment = {
        "PATH": "/usr/bin:/bin",
        "AWS_DEFAULT_REGION": "us-east-1",
        **{f"KG_TABLE_{table}": "t" for table in ("REGISTRATIONS_PUBLIC", "REGISTRATIONS_INTERNAL", "CARDS")},
        **{f"KG_TABLE_{table}": "t" for table in ("LEDGER_PUBLIC", "LEDGER_INTERNAL")},
        "KG_KEY_PUBLIC": "k",
        "KG_KEY_INTERNAL": "k",
        "KG_ROOT_SECRET": "s",
        **{f"KG_POOL_{pool}": "p" for pool in ("CONTEXT7", "EXA", "FIRECRAWL")},
    }
    command = [str(python.executable), "-c", program]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "True False"), done.stderr


@pytest.mark.parametrize("name", [function.name for function in FUNCTIONS if function.dials_out])
def test_a_bundle_that_asks_providers_can_wait_for_a_connection(
    runnable: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """What a pool of connections waits with is loaded by name, so no import statement would miss it."""
    python = lambda_python()
    with zipfile.ZipFile(runnable[name]) as archive:
        archive.extractall(tmp_path)
    program = (
        f"import asyncio, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from httpcore._synchronization import AsyncEvent, AsyncLock\n"
        "async def wait():\n"
        "    async with AsyncLock():\n"
        "        event = AsyncEvent(); event.set(); await event.wait(timeout=5)\n"
        "    print('waited')\n"
        "asyncio.run(wait())\n"
    )
    done = subprocess.run([str(python.executable), "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "waited"), done.stderr


def test_without_an_interpreter_bundles_carry_sources_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "interpreter", lambda _version: None)
    target = Target()
    monkeypatch.setattr(build, "BUILD", tmp_path)
    bundle = build_bundles(["widget"], target)["widget"]
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()
    assert "pydantic/main.py" in names
    assert not any(name.endswith(".pyc") for name in names)
    assert "No Python 3.13 found" in capsys.readouterr().err


def test_a_handler_that_cannot_be_read_stops_the_build() -> None:
    with pytest.raises(RuntimeError, match="could not be read"):
        build_bundles(["nothing"], Target())


def test_an_interpreter_of_another_version_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = tmp_path / "python9.9"
    wrong.write_text("#!/bin/sh\necho 3.4\n")
    wrong.chmod(0o755)
    monkeypatch.setenv(interpreters.VARIABLE, str(wrong))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert interpreter("9.9") is None
    wrong.write_text("#!/bin/sh\necho 9.9\n")
    assert interpreter("9.9") == wrong


def test_an_interpreter_that_does_not_run_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(interpreters.VARIABLE, str(tmp_path / "missing"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert interpreter("9.9") is None


def test_bytecode_names_the_place_where_lambda_unpacks_it(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def where():\n    return 1\n")
    compile_slim_tree(tmp_path, Path(sys.executable))
    path = compiled(tmp_path / "one.py", f"{sys.version_info.major}.{sys.version_info.minor}")
    assert loaded("one", path).where.__code__.co_filename == "/var/task/one.py"


_DOCUMENTED = '''"""Of the module."""


class Thing:
    """Of the class."""

    def checked(self, value: int) -> int:
        """Of the method."""
        assert value > 0
        return 1 // (value - 1)


async def later() -> None:
    """Nothing but this."""
'''


def test_slim_bytecode_has_no_docstrings_and_does_the_same(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(_DOCUMENTED)
    compile_slim_tree(tmp_path, Path(sys.executable))
    path = compiled(tmp_path / "one.py", f"{sys.version_info.major}.{sys.version_info.minor}")
    assert b"Of the" not in path.read_bytes()
    module = loaded("one", path)
    assert (module.__doc__, module.Thing.__doc__, module.later.__doc__) == (None, None, None)
    with pytest.raises(AssertionError):
        module.Thing().checked(0)
    with pytest.raises(ZeroDivisionError) as raised:
        module.Thing().checked(1)
    failed_at = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (failed_at.filename, failed_at.lineno, failed_at.name) == ("/var/task/one.py", 10, "checked")


def test_only_what_begins_a_body_is_a_docstring() -> None:
    kept = b"x = 'a'\n'not one'\n\ndef f():\n    return 'b'\n"
    assert ast.dump(without_docstrings(kept)) == ast.dump(ast.parse(kept))


def test_modules_are_there_as_bytecode_alone(shipped: Synthesised) -> None:
    """Where an interpreter made some; but for one package, which reads its own source."""
    sources = [name for name in shipped.bundled("search") if name.endswith(".py")]
    assert all(name.startswith("anyio/") for name in sources) is HAS_INTERPRETER
    assert len(own(shipped.bundled("search"))) > 80


def loaded(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_zip_depends_on_its_contents_alone(tmp_path: Path) -> None:
    write_zip(tmp_path / "a.zip", {"b": b"2", "a": b"1"})
    write_zip(tmp_path / "b.zip", {"a": b"1", "b": b"2"})
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert unzipped_bytes(tmp_path / "a.zip") == 2


@pytest.fixture(scope="module")
def wheels() -> Path:
    return installed_wheels(Target(), interpreter(Target().python_version))


def test_the_report_of_what_is_reached_is_by_function(wheels: Path) -> None:
    """Two functions asked at once do not add to each other."""
    command = [sys.executable, "-m", "infra.bundles.reach", str(wheels), "widget", "assets"]
    reached = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    assert "functions.widget.handler" in reached["widget"]
    assert "functions.widget.handler" not in reached["assets"]
    assert "shared" in reached["assets"]


def test_what_is_left_out_would_be_reached_otherwise(wheels: Path) -> None:
    """An entry that no import leads to any more says nothing and goes."""
    program = (
        "import json, sys, infra.bundles.reach as it; it.NEVER_LOADED = (); "
        "print(json.dumps(it.reached(['search'], it.Path(sys.argv[1]))))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(wheels)], cwd=ROOT, capture_output=True, check=True)
    everything = json.loads(done.stdout)["search"]
    for left_out in NEVER_LOADED:
        assert any(module.startswith(left_out) for module in everything)
