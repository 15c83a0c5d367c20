"""What one would write oneself: FastAPI, one httpx client, `asyncio.gather`.

Settings: uvicorn with uvloop and httptools, one worker, no access log. The client keeps its connections, has no cap on
them, and gives every provider TIMEOUT_S. Results are checked by pydantic coming in and going out, and merged by score.
`python fastapi_gather.py PORT`; PEER_PROVIDERS is JSON, name -> base URL. Runs in the peers' environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI, Request
from pydantic import BaseModel
from tether import leave_with_parent

TIMEOUT_S = float(os.environ["PEER_TIMEOUT_S"])
PROVIDERS = json.loads(os.environ["PEER_PROVIDERS"])


class Result(BaseModel):
    documentId: str
    title: str
    snippet: str
    audience: str
    url: str
    locale: str
    score: float
    revision: str
    chunkId: str
    freshness: str


class Found(BaseModel):
    results: list[Result]


class Search(BaseModel):
    query: str
    locale: str
    limit: int
    providers: list[str]


class Answer(BaseModel):
    results: list[Result]
    asked: int
    failed: list[str]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(timeout=TIMEOUT_S, limits=limits, trust_env=False) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/search")
async def search(asked: Search, request: Request) -> Answer:
    client = request.app.state.client
    answers = await asyncio.gather(*(_ask(client, name, asked) for name in asked.providers), return_exceptions=True)
    results = [result for answer in answers if isinstance(answer, Found) for result in answer.results]
    failed = [name for name, answer in zip(asked.providers, answers, strict=True) if isinstance(answer, BaseException)]
    results.sort(key=lambda result: -result.score)
    return Answer(results=results[: asked.limit], asked=len(asked.providers), failed=failed)


async def _ask(client: httpx.AsyncClient, name: str, asked: Search) -> Found:
    body = {"query": asked.query, "limit": 10, "locale": asked.locale}
    answer = await client.post(f"{PROVIDERS[name]}/retrieve", json=body)
    answer.raise_for_status()
    return Found.model_validate_json(answer.content)


if __name__ == "__main__":
    leave_with_parent()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical", access_log=False)
