"""Every problem code: what happened and what to do. `docs/errors.md` and the published document are made from it.

An example of each lies in `fixtures/problems/<code>.json`.
"""

from __future__ import annotations

from infra.openapi.problem_sentences import ProblemWords
from infra.openapi.server_problem_words import SERVER_PROBLEMS

PROBLEMS: dict[str, ProblemWords] = {
    "bad_request": ProblemWords(
        400, "The request cannot be read.", "Compare it with the published description of the operation."
    ),
    "body_not_json": ProblemWords(
        400,
        "The body is not one JSON object: malformed, not UTF-8, nested too deeply, the same key twice, or NaN.",
        "Send one JSON object, each key once.",
    ),
    "body_not_base64": ProblemWords(
        400, "The body is marked as base64 and is not.", "Send the body as it is, or encode it correctly."
    ),
    "unsupported_media_type": ProblemWords(
        400,
        "The body is declared as something that the operation does not take.",
        "Send `Content-Type: application/json`; an import of cards takes `application/x-ndjson` or `text/csv`.",
    ),
    "body_not_csv": ProblemWords(
        400,
        "The rows of the table cannot be told apart, or its first line does not name the columns.",
        "Send UTF-8 with a header, commas between the cells, and quotes doubled inside quoted cells.",
    ),
    "unauthenticated": ProblemWords(
        401,
        "No token, or one that is malformed, unknown, revoked, expired, or of a class that has no business here.",
        "Send `Authorization: Bearer kg_…` with a valid token of the class that the operation names.",
    ),
    "forbidden": ProblemWords(
        403,
        "The credential may not do that. For a widget: the key is missing, unknown or revoked, or the page's origin is "
        "not in its list; all of these look the same.",
        "For a widget: compare the page's origin, exactly, with the origins of the credential.",
    ),
    "not_through_front": ProblemWords(
        403,
        "The request did not come through the distribution that stands in front of this API, or the functions have not "
        "been told yet what that shows them.",
        "Call the public address of the API. Operators: `kgw front rotate`.",
    ),
    "not_found": ProblemWords(
        404,
        "There is no such path or thing. What exists and may not be known looks the same.",
        "Check the path and the id.",
    ),
    "quote_unknown": ProblemWords(
        404,
        "There is no such quote for this credential and agent: it was never made, has ended, or belongs to others.",
        "Inspect the tool again, and execute the new quote under a new `requestId`.",
    ),
    "method_not_allowed": ProblemWords(
        405, "The path exists and does not take that method.", "Use a method from the header `Allow`."
    ),
    "conflict": ProblemWords(409, "The present state does not allow this.", "Read the thing again and decide anew."),
    "request_id_reused": ProblemWords(
        409,
        "The `requestId` was used for another quote or other options within 30 days. Nothing was sent.",
        "Use a new `requestId` for a new execution; ask for the receipt of the old one.",
    ),
    "terms_required": ProblemWords(
        409,
        "A person has to accept the terms of the tool's provider first. Nothing was executed.",
        "Open `settingsUrl`, accept the terms, and send the same request again.",
    ),
    "busy": ProblemWords(
        409,
        "Others were changing the same things, several times in a row. Nothing was written.",
        "Send the same request again after `Retry-After`, a creating one with the same `Idempotency-Key`.",
    ),
    "id_taken": ProblemWords(
        409, "The id that was made for the new thing is taken. Nothing was written.", "Send the same request again."
    ),
    "name_taken": ProblemWords(
        409,
        "Another one of the same kind and exposure profile has this name. Case, width, spacing and invisible "
        "characters do not count.",
        "Choose another name.",
    ),
    "provider_limit_reached": ProblemWords(
        409, "There are 200 providers of this exposure profile.", "Delete one that is no longer used."
    ),
    **SERVER_PROBLEMS,
    "key_full": ProblemWords(
        409,
        "There are 100 cards with this key in the collection.",
        "Give the card a key that says more, or merge cards.",
    ),
    "collection_full": ProblemWords(
        409,
        "The collection has as many cards, keys or bytes of keys as a collection may have.",
        "Begin another collection, or delete cards that are no longer used.",
    ),
    "import_running": ProblemWords(
        409,
        "Another import into this collection is running, or one was interrupted a moment ago.",
        "Send the same request again after `Retry-After`.",
    ),
    "import_ended": ProblemWords(
        409,
        "The import took too long, and another one has begun since. Rows that were written stay.",
        "Send the same request again: rows that are there already change nothing.",
    ),
    "idempotency_key_used": ProblemWords(
        409,
        "The idempotency key was used a moment ago, and what that request made cannot be found yet.",
        "Send the same request again: it will show what the first one made.",
    ),
    "grant_refused": ProblemWords(
        409,
        "The class of the credential may never hold this grant. `knowledge:read_internal` is for nobody: every "
        "assistant can produce output that reaches a customer.",
        "Use a credential of class agt for a tool that a trusted human operates.",
    ),
    "private_network_unavailable": ProblemWords(
        409,
        "`allowPrivateNetwork` was asked for, and this deployment is in no private network.",
        "Deploy the stack with its VPC option first.",
    ),
    "test_required": ProblemWords(
        409,
        "A provider was to be active before it has passed a test: a new one, or a customer_safe one with a new "
        "`baseUrl` (`needsTest`).",
        "Test it with `activate: true`. A new `baseUrl` comes first, in a change of its own.",
    ),
    "no_signing_secret": ProblemWords(
        409,
        "The secret of a provider was to be rotated that has none: its kind signs nothing.",
        "The keys of a live service lie in its pool: replace them there.",
    ),
    "no_capabilities": ProblemWords(
        409,
        "Capabilities were to be read from a provider whose kind declares none.",
        "Nothing has to be done: what a live kind can do is known.",
    ),
    "nothing_unknown": ProblemWords(
        409,
        "More operations were reviewed than are unknown. Nothing was written.",
        "Read the allowance again: some may have been reviewed by somebody else.",
    ),
    "rotation_pending": ProblemWords(
        409,
        "The secret was rotated before and that window is still open: a third secret would silence the oldest.",
        "Wait for the end of the window, or send `replacePending: true`.",
    ),
    "last_admin": ProblemWords(
        409,
        "Nobody could administer the gateway any more.",
        "Issue another admin credential without an expiry first, or switch root on.",
    ),
    "root_protected": ProblemWords(
        409,
        "Root can be switched off and on, and nothing else.",
        "Send `status` alone. Its secret is replaced in AWS Secrets Manager.",
    ),
    "precondition_failed": ProblemWords(
        412,
        "The thing has changed since it was read. Nothing was written.",
        "Read it again, decide anew, and send the new ETag.",
    ),
    "body_too_large": ProblemWords(413, "The body is larger than 1 MiB.", "Send less."),
    "invalid_request": ProblemWords(
        422,
        "A field or parameter is missing, unknown, or has a value that is not allowed. `errors` names each.",
        "Correct the fields that `errors` points at.",
    ),
    "invalid_cursor": ProblemWords(
        422,
        "The cursor is malformed or comes from another list.",
        "Take it from `nextCursor` of this very list, or leave it out.",
    ),
    "invalid_if_match": ProblemWords(
        422, "`If-Match` is not one entity tag.", 'Send the ETag that you read, quotes included: `If-Match: "3"`.'
    ),
    "invalid_idempotency_key": ProblemWords(
        422, "The idempotency key is malformed.", "Use 1 to 255 printable ASCII characters, a UUID for instance."
    ),
    "idempotency_key_reused": ProblemWords(
        422,
        "The same idempotency key came with another body within 24 hours.",
        "Use a new key for a new request.",
    ),
    "invalid_base_url": ProblemWords(
        422,
        "The base URL is not one that a provider can be asked under.",
        "Use https, a full DNS name or a public address, no user name, no query, no fragment.",
    ),
    "invalid_private_authority": ProblemWords(
        422,
        "What is to vouch for the server is not one or more certificates in PEM form.",
        "Send certificates alone, each from its BEGIN line to its END line; never a private key.",
    ),
    "invalid_source_url": ProblemWords(
        422,
        "The URL is not one of a page that a service may fetch.",
        "Use https and a public host name, no user name, no port, and no parameter that looks like a credential.",
    ),
    "invalid_origin": ProblemWords(
        422,
        "An origin is not exact.",
        "Write scheme and host, and the port where it is not the usual one: `https://help.example.com`.",
    ),
    "source_not_approved": ProblemWords(
        422,
        "No provider that may be asked approves the host of the source, or the one that was named does not.",
        "Ask an operator to approve the host, exactly, at a provider of kind exa or firecrawl.",
    ),
    "blocked_address": ProblemWords(
        422,
        "The host has an address that is never dialled, or a private one without `allowPrivateNetwork`.",
        "Use a host all of whose addresses are public.",
    ),
    "host_not_resolved": ProblemWords(
        422, "The host has no address that could be found.", "Check the spelling and the DNS record."
    ),
    "precondition_required": ProblemWords(
        428,
        "The change does not say which version it is meant for.",
        "Read the thing and send its ETag as `If-Match`. `*` is not taken.",
    ),
    "rate_limited": ProblemWords(
        429,
        "The credential, or the visitor's address, has asked too often within a minute.",
        "Wait as long as `Retry-After` says.",
    ),
    "internal_error": ProblemWords(
        500, "The gateway failed in a way nobody expected.", "Report it with the request id."
    ),
    "provider_failed": ProblemWords(
        502,
        "The one provider that was asked gave nothing usable. `outcome` says what happened, as an outcome code.",
        "Read about the outcome code, and look at the provider that `provider` names.",
    ),
    "source_not_found": ProblemWords(
        502,
        "The service could not fetch the source: the page is not there, its host has no address, or its site refuses.",
        "Check the URL, or name another provider.",
    ),
    "source_not_readable": ProblemWords(
        502,
        "The service has no text of the source: it is no text, it is empty, or the service does not serve its site.",
        "Use a page of text, or name another provider.",
    ),
    "source_not_fresh": ProblemWords(
        502,
        "`freshness: force` was asked for, and the service had no text but one that it fetched before.",
        "Try again later, or ask with `freshness: fresh`, which takes such a text and says so.",
    ),
    "source_too_large": ProblemWords(
        502, "What the service answered is larger than 1 MiB. It is refused whole.", "Ask for a smaller page."
    ),
    "redirect_not_approved": ProblemWords(
        502,
        "The source leads to a URL that may not be fetched: its host is not approved, or it is not plain https.",
        "Ask for the page where it is now, once an operator has approved its host.",
    ),
    "store_unavailable": ProblemWords(
        503,
        "The gateway's own store cannot be used at the moment. Whether a change was made is not certain.",
        "Send the same request again after `Retry-After`, a creating one with the same `Idempotency-Key`.",
    ),
    "vocabulary_unavailable": ProblemWords(
        503,
        "The keys of the collection could not be read in time.",
        "Try again after `Retry-After`; look terms up instead where you know them.",
    ),
    "secrets_unavailable": ProblemWords(
        503,
        "A secret cannot be read or opened at the moment.",
        "Try again after `Retry-After`; if it lasts, check the function's access to its keys and to the root secret.",
    ),
    "keys_exhausted": ProblemWords(
        503,
        "Every key of the service is resting: each was refused for its quota or its rate.",
        "Try again after `Retry-After`; an operator can add a key.",
    ),
    "allowance_exhausted": ProblemWords(
        503,
        "The operations allowed for the service in 24 hours are used up.",
        "Try again after `Retry-After`, if there is one; an operator can raise the allowance or review unknown units.",
    ),
    "provider_rate_limited": ProblemWords(
        503,
        "The service takes no more requests now, and that is not the matter of one key.",
        "Try again after `Retry-After`, or a little later where there is none.",
    ),
    "circuit_open": ProblemWords(
        503,
        "The service failed repeatedly, or asked to be left alone, and is not asked for a while. Nothing was sent.",
        "Try again after `Retry-After`; `GET /api/v1/knowledge/health` shows what happened.",
    ),
    "disabled": ProblemWords(
        503,
        "The service was taken out of use: it refused our credentials three times in a row, or answered against its "
        "contract five times in a row. Nothing was sent.",
        "Look at `GET /api/v1/knowledge/health`, mend what is wrong, and put the provider back with a passed test or "
        "`PATCH` `status: active`.",
    ),
    "not_configured": ProblemWords(
        503,
        "The service is not set up here, or what is needed to ask it cannot be read. Nothing was sent.",
        "Give its pool a key, and check the function's access to its secret and its ledger.",
    ),
    "provider_timeout": ProblemWords(
        504,
        "The service did not answer in time. Whether it did the work is not known, so the unit stays counted.",
        "Try again, with a longer `deadlineMs` where it was short.",
    ),
}
