// Written by `make openapi` from the tables in shared/web; change the words there.
import type { OutcomeCode } from "./api";

export const OUTCOMES: Record<OutcomeCode, string> = {
  timeout: "The provider did not answer completely in its time, name look-up included. Make the provider faster, or give the search a longer `deadlineMs`.",
  connection_failed: "No connection could be made: the name has no address, the port is closed, or the certificate is not valid. Check the host name, the port and the certificate of the base URL.",
  blocked_address: "The host has an address that is never dialled, or a private one that this registration may not reach. Use a public address, or `allowPrivateNetwork` where the deployment has a private network.",
  rate_limited: "The provider takes no more requests now. Ask less often, or raise the provider's limit. `retryAt` says when, where the provider did.",
  unauthorized: "The provider rejected the signature, the key or the credential that it was sent. Compare a contract provider's secret with `secretFingerprint`, without white space around it, and check its clock. Replace the credential of any other.",
  forbidden: "The provider refused: it does not let this gateway do that. Let a contract provider accept signed requests of this gateway. Give the credential of any other the right.",
  not_found: "The provider knows no such page, knowledge base or source, or the search named a provider that this credential cannot reach. Check the base URL (`/retrieve` is appended to that of a contract provider), what the provider is bound to, or the ids in `providers`.",
  invalid_response: "The answer is not one of this kind of provider: not JSON, a wrong type or a missing field. Check that the base URL leads to the provider and not to a page before it. Run the conformance checks against a contract provider.",
  unsupported_version: "The provider is of a version that is not supported. Let a contract provider answer with `contractVersion: 1`. Compare a self-hosted server with the versions in docs/self-hosted.md.",
  response_too_large: "The answer is larger than 1 MiB, on the wire or after decoding. It is refused whole. Let the provider return shorter snippets.",
  upstream_error: "The provider answered with a server error, a redirect (none is followed) or another unexpected status. Look into the provider's own log; the request carries `X-Helpthread-Request`.",
  query_too_long: "The query is longer than this provider takes. It is never cut silently. Send a shorter query: a contract provider takes 1,024 characters.",
  missing_input: "This provider needs something that the request does not carry. context7: send `product` or `repository`, unless its config has a `library`. deepwiki: send `repository`, one of those that its config lists, unless that is only one. No other kind needs more than a query.",
  not_configured: "The provider is not set up, or its secret could not be opened. Nothing was sent to it. Complete its configuration. If it lasts, rotate its secret and check the function's access to its key.",
  keys_exhausted: "Every key of this provider's pool is resting. Wait until `retryAt`, or add a key.",
  allowance_exhausted: "The operations allowed for this provider in 24 hours are used up. Wait, or raise the allowance.",
  capability_unavailable: "The provider does not offer what was asked for, here or yet. Leave that wish out, or read a contract provider's capabilities again.",
  circuit_open: "The provider failed three times in a row, or asked to be left alone, and is not asked for a while. Nothing has to be done: from `retryAt` on it is tried again. Mend it where it does not recover.",
  terms_required: "The provider asks its owner to accept terms first. Accept them with the provider, then search again.",
  disabled: "The provider is switched off: by an operator, because it has to pass a test first, or because it refused our credentials three times in a row or answered against its contract five times in a row. Test it with `activate: true`; where its `needsTest` is false, a change to `status: active` does it too.",
  config_changed: "The registration changed while the search was running. Search again.",
  cancelled: "The answer was due before this provider's turn was over. Give the search a longer `deadlineMs`.",
  internal_error: "The gateway itself failed at this one provider. Report it with the request id.",
};

export const AT_LIVE_SERVICES: Partial<Record<OutcomeCode, string>> = {
  timeout: "The service did not answer completely in its time. With less than three seconds left it is not asked at all. Give a search a `deadlineMs` of 3,500 or more. An operation that stays unknown counts until it is reviewed.",
  connection_failed: "No connection to the service could be made. Test again in a while; if it lasts, check that the function may reach the internet.",
  rate_limited: "The service takes no more requests now. Ask less often; `retryAt` says when, where the service did.",
  unauthorized: "The service rejected the key. No other key is tried for that. Replace the key that `GET /api/v1/knowledge/pools` shows as active, or rest it.",
  forbidden: "The service refused: the account may not do that, or the service takes nothing from this network. Look into the account at the service.",
  not_found: "The service does not know what was asked about. Check the library, the repository or the address of the source.",
  invalid_response: "The service answered in a form that is not the documented one. Test again; if it lasts, report it: the service may have changed.",
  response_too_large: "The answer is larger than 1 MiB, on the wire or after decoding. It is refused whole. Ask for less: fewer results, fewer characters, or another source.",
  upstream_error: "The service answered with a server error or another unexpected status. It may still have done the work. Test again in a while. An operation that stays unknown counts until it is reviewed.",
  query_too_long: "The query is longer than this service takes. It is never cut silently. Send a shorter query.",
  not_configured: "The pool has no key, or keys or the ledger could not be read. Nothing was sent. Look at `GET /api/v1/knowledge/pools`; add a key where there is none.",
  capability_unavailable: "The service cannot give that: certainly new text in a search (`force`), text of a source that has none, a tool that is gone, any search at all (firecrawl). Search with `fresh`, or acquire the source with `force`. If a service no longer offers its tool, report it.",
};

export const AT_SERVERS: Partial<Record<OutcomeCode, string>> = {
  timeout: "The server did not answer completely in its time, name look-up included. Give it a longer `requestTimeoutMs`, or look at its load: its models may be slow to answer.",
  blocked_address: "The host has an address that is never dialled, or a private or plain one that was not acknowledged. Acknowledge the risk for exactly this base URL; a private address needs the deployment's VPC option, too.",
  rate_limited: "The server takes no more requests now. Ask less often, or raise the limit in the product.",
  unauthorized: "The server rejected the credential, or there is none. Replace it: dify takes a knowledge (dataset) key, fastgpt a key that is not tied to one app, ragflow an API key of the account.",
  forbidden: "The credential may not do that: read the list, or reach this knowledge base by API. Give the key the right to it, switch API access on in the product, or bind by an id that you know.",
  not_found: "The server knows no such page or knowledge base, or the credential may not see it. Check the base URL and its prefix (dify `/v1`, fastgpt `/api`), and the remote id.",
  invalid_response: "What answered does not answer like this product: a page of a proxy, or a version that is not known here. Check that the base URL is that of the product's API and not of its web pages.",
  unsupported_version: "What answered does not take what is sent: a version that is not supported, or another page of the server. Compare with the versions in docs/self-hosted.md, and check the base URL.",
  response_too_large: "The answer is larger than 1 MiB, on the wire or after decoding. It is refused whole. Ask for fewer results, or let the product cut its texts into smaller pieces.",
  upstream_error: "The server failed: often its embedding or rerank model, or the store of its vectors. Try the same search in the product itself, and look into its log.",
  query_too_long: "The query is longer than this server takes. It is never cut silently. Send a shorter query: dify takes 250 characters.",
  not_configured: "The credential could not be opened or cannot be sent, or the binding was tested with an older adapter. Nothing was sent. Replace the credential; where `configInvalid` is true, change the config or restore the defaults.",
  capability_unavailable: "The server does not offer that for this knowledge base: nothing is indexed yet, or a model is missing. Let the product finish it, give it its model, or leave the setting out that it does not know.",
};
