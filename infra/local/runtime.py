"""The whole gateway on this machine: a front, a pool of processes for each function, an embedded AWS backend."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.functions import FUNCTIONS
from infra.local.clockwork import Clockwork
from infra.local.dispatch import Dispatcher
from infra.local.emulator import start_emulator
from infra.local.functions import environments
from infra.local.pool import Pool
from infra.local.provision import client_environment, provision
from infra.local.root_token import read_root_token
from infra.local.server import Front
from infra.pools import POOL_VARIABLES

_IDLE_S = 600.0
_REAP_EVERY_S = 30.0
_POLL_S = 0.05  # how soon the front notices that it shall end


class Runtime:
    """Use as a context manager: what it started ends with it.

    `port` 0 takes a free one; it is taken before anything else starts. `state_dir` keeps the backend's data.
    `local_origins` points live services at loopback: kind -> `http://127.0.0.1:<port>`.
    Raises `OSError` when the port is taken, `EmulatorMissing` and `EmulatorFailed`.
    """

    def __init__(
        self,
        *,
        port: int,
        log_dir: Path,
        state_dir: Path | None = None,
        local_origins: Mapping[str, str] | None = None,
    ) -> None:
        self._log_dir = log_dir
        self._local_origins = local_origins
        self._pools: dict[str, Pool] = {}
        self._closing = threading.Event()
        self._clockwork = Clockwork()
        self._front = Front(port, dispatcher=Dispatcher(), pools=lambda: self._pools)
        try:
            self._backend = start_emulator(state_dir=state_dir)
            self._store = provision(self._backend.endpoint_url)
        except BaseException:
            self._front.server_close()
            raise

    @property
    def url(self) -> str:
        return self._front.url

    def __enter__(self) -> Self:
        client = client_environment(self.aws_endpoint)
        told = environments(store=self._store, client=client, local_origins=self._local_origins)
        timeouts = {function.name: function.timeout_s for function in FUNCTIONS}
        for name, environment in told.items():
            log = self._log_dir / f"{name}.log"
            self._pools[name] = Pool(
                f"functions.{name}.handler", environment=environment, log=log, timeout_s=timeouts[name]
            )
        for function in FUNCTIONS:
            if function.every_min:
                self._clockwork.drive(function.name, self._pools[function.name])
        threading.Thread(target=self._front.serve_forever, args=(_POLL_S,), daemon=True).start()
        threading.Thread(target=self._reap, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        self._clockwork.stop()
        self._front.shutdown()
        self._front.server_close()
        for pool in self._pools.values():
            pool.close()
        self._backend.stop()

    @property
    def is_sound(self) -> bool:
        """Whether the embedded backend still runs; without it nothing works."""
        return self._backend.process.poll() is None

    def root_token(self) -> str:
        """The token of the first admin."""
        return read_root_token(self.aws_endpoint, secret_id=self._store["KG_ROOT_SECRET"])

    @property
    def aws_endpoint(self) -> str:
        """Where the embedded backend answers, for tools that keep its secrets; `client_environment` leads to it."""
        return self._backend.endpoint_url

    def pool_secrets(self) -> dict[str, str]:
        """The id of the secret that holds each keyed pool's keys, by name of the pool."""
        return {str(pool): self._store[variable] for pool, variable in POOL_VARIABLES.items()}

    def warm_up(self, *functions: str) -> None:
        """Begins to start a process of each, without waiting."""
        for name in functions:
            self._pools[name].warm_up()

    def pids(self, function: str) -> tuple[int, ...]:
        """The processes of one function."""
        return self._pools[function].pids()

    def _reap(self) -> None:
        while not self._closing.wait(_REAP_EVERY_S):
            for pool in self._pools.values():
                pool.end_idle(longer_than_s=_IDLE_S)
