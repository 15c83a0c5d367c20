"""What the provider declares, and whether it keeps it. That it searches by meaning cannot be proven from outside."""

from __future__ import annotations

from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.readings import Reading
from knowledge_conformance.registry import Need, check
from knowledge_conformance.roots import GENUINE
from knowledge_conformance.scenarios.retrieval import says_json
from knowledge_conformance.shapes import faults_of_declaration
from knowledge_conformance.subject import Subject

_FIELDS = {
    "locale": "locale",
    "freshness": "freshness",
    "translationGroups": "translationGroupId",
    "chunking": "chunkId",
    "scoring": "score",
    "citationUrl": "url",
}
_NOTHING_LESS = "Write the field into your results, or declare the capability no longer."


@check(
    "capabilities.page",
    "GET /capabilities is answered with 200, 404 or 405",
    fix="Answer 200 with what you can do, or leave the page out: 404 says that you can do nothing special.",
)
async def page(subject: Subject) -> str:
    reply = subject.seen.capabilities
    if reply is None:
        raise Skipped("no genuine request was answered with 200", because=GENUINE)
    if reply.fault or reply.status not in (200, 404, 405):
        raise Failed(reply.words)
    return "there is none, which is fine" if reply.status != 200 else "it is there"


@check(
    "capabilities.shape",
    "The page says in strict JSON what is true and what is false",
    fix="Answer `contractVersion` and `capabilities`, an object of booleans, as application/json.",
)
async def shape(subject: Subject) -> str:
    declaration = _declaration(subject)
    if declaration.faults:
        raise Failed("the body is not strict JSON in UTF-8")
    if subject.seen.capabilities and not says_json(subject.seen.capabilities.headers.get("content-type", "")):
        raise Failed("the Content-Type does not say JSON")
    if not isinstance(declaration.document, dict):
        raise Failed("the body is no object")
    if faults := faults_of_declaration(declaration.document):
        raise Failed(faults[0])
    return f"{len(subject.seen.declared)} are declared"


@check(
    "capabilities.version",
    "The page names version 1 of the contract",
    fix="Write `contractVersion: 1`, a number.",
)
async def version(subject: Subject) -> str:
    document = _declaration(subject).document
    number = document.get("contractVersion") if isinstance(document, dict) else None
    if isinstance(number, bool) or number != 1:
        raise Failed("it does not")
    return "it does"


@check(
    "capabilities.complete",
    "What results carry is declared",
    fix="Declare it on GET /capabilities: what is not declared is not relied on, and scores are not ordered by.",
    need=Need.RESULTS,
    is_late=True,
)
async def complete(subject: Subject) -> str:
    carried = [name for name, field in _FIELDS.items() if subject.seen.values(field)]
    missing = [name for name in carried if name not in subject.seen.declared]
    if missing:
        raise Failed("results carry what is not declared: " + ", ".join(missing))
    return f"{len(carried)} are carried and declared"


@check(
    "freshness.labelled",
    "Some result carries `freshness`, as declared",
    fix=_NOTHING_LESS,
    need=Need.RESULTS,
    is_late=True,
)
async def freshness(subject: Subject) -> str:
    return _some(subject, "freshness")


@check(
    "translation-groups.labelled",
    "Some result carries `translationGroupId`, as declared",
    fix=_NOTHING_LESS,
    need=Need.RESULTS,
    is_late=True,
)
async def groups(subject: Subject) -> str:
    return _some(subject, "translationGroups")


@check(
    "citation-url.labelled",
    "Some result carries `url`, as declared",
    fix=_NOTHING_LESS,
    need=Need.RESULTS,
    is_late=True,
)
async def citation(subject: Subject) -> str:
    return _some(subject, "citationUrl")


@check(
    "chunking.labelled",
    "Every result carries `chunkId`, as declared",
    fix=_NOTHING_LESS,
    need=Need.RESULTS,
    is_late=True,
)
async def chunks(subject: Subject) -> str:
    return _every(subject, "chunking")


@check(
    "chunking.distinct",
    "No passage stands twice in one answer",
    fix="Answer each `chunkId` of a document once.",
    need=Need.RESULTS,
    is_late=True,
)
async def distinct(subject: Subject) -> str:
    _declared(subject, "chunking")
    most = 0
    for _, reading in subject.seen.all_readable:
        names = [
            (str(one.get("documentId")), str(one["chunkId"]))
            for one in reading.results
            if isinstance(one, dict) and one.get("chunkId") is not None
        ]
        if len(set(names)) != len(names):
            raise Failed("two results of one answer are the same passage")
        most = max(most, len(names))
    if most < 2:
        raise Skipped("no answer has two results with a chunkId")
    return f"up to {most} in one answer, all different"


@check(
    "scoring.labelled", "Every result carries `score`, as declared", fix=_NOTHING_LESS, need=Need.RESULTS, is_late=True
)
async def scores(subject: Subject) -> str:
    return _every(subject, "scoring")


@check(
    "scoring.ordered",
    "The best score comes first",
    fix="Order your results by falling `score`; higher is better.",
    need=Need.RESULTS,
    is_late=True,
)
async def ordered(subject: Subject) -> str:
    _declared(subject, "scoring")
    differing = 0
    for _, reading in subject.seen.all_readable:
        numbers = [one.get("score") for one in reading.results if isinstance(one, dict)]
        known = [number for number in numbers if isinstance(number, int | float) and not isinstance(number, bool)]
        if known != sorted(known, reverse=True):
            raise Failed("a result stands behind one with a lower score")
        differing += len(set(known)) > 1
    if not differing:
        raise Skipped("no two scores of one answer differ; name a question of several words with --query")
    return f"scores fall in {differing} answers"


def _declaration(subject: Subject) -> Reading:
    if subject.seen.declaration is None:
        if subject.seen.capabilities and subject.seen.capabilities.status in (404, 405):
            raise Skipped("there is no such page")
        raise Skipped("the page did not come", because=("capabilities.page",))
    return subject.seen.declaration


def _declared(subject: Subject, name: str) -> None:
    if name not in subject.seen.declared:
        raise Skipped(f"{name} is not declared")


def _some(subject: Subject, name: str) -> str:
    _declared(subject, name)
    count = len(subject.seen.values(_FIELDS[name]))
    if not count:
        raise Failed(f"none of {len(subject.seen.all_results)} results carries it")
    return f"{count} of {len(subject.seen.all_results)} results carry it"


def _every(subject: Subject, name: str) -> str:
    _declared(subject, name)
    count, whole = len(subject.seen.values(_FIELDS[name])), len(subject.seen.all_results)
    if count < whole:
        raise Failed(f"{whole - count} of {whole} results do not carry it")
    return f"all {whole} results carry it"
