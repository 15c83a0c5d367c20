"""Problems that only self-hosted servers bring: what happened and what to do."""

from __future__ import annotations

from infra.openapi.problem_sentences import ProblemWords

SERVER_PROBLEMS: dict[str, ProblemWords] = {
    "instance_limit_reached": ProblemWords(
        409, "There are 50 instances of this exposure profile.", "Delete one that is no longer used."
    ),
    "binding_limit_reached": ProblemWords(
        409,
        "There are 30 providers bound to this instance.",
        "Delete one that is no longer used, or register the server once more with a credential of its own.",
    ),
    "already_bound": ProblemWords(
        409,
        "This knowledge base of this instance is bound already.",
        "Change the provider that is bound to it, or delete that one first.",
    ),
    "config_changed": ProblemWords(
        409,
        "The instance has changed, or is gone, since what is bound to it was read or tested.",
        "Read the instance again, and repeat the request: it is tested with what the instance is now.",
    ),
    "instance_in_use": ProblemWords(
        409,
        "Providers are bound to the instance; `bindings` lists them.",
        "Delete them first, or name exactly them with the deletion of the instance.",
    ),
    "credential_used_elsewhere": ProblemWords(
        409,
        "The other exposure profile uses the same credential, whatever the server.",
        "Make a credential of its own for each exposure profile: one that reaches what the profile may show, no more.",
    ),
    "risk_not_acknowledged": ProblemWords(
        409,
        "The server is asked without TLS, or in a private network, and that was not acknowledged for exactly this base "
        "URL. Nothing was sent to it.",
        "Send `acknowledge` with the `url` and the `risks` that stand in `baseUrl` and `risks`, if you accept them.",
    ),
    "credential_required": ProblemWords(
        409,
        "The new base URL has another scheme, host or port, and the credential was meant for the old one.",
        "Replace the credential in the same request, or clear it.",
    ),
    "test_failed": ProblemWords(
        409,
        "The server was asked, as it was going to be, and gave nothing usable. Nothing was saved. `outcome` says what "
        "happened, as an outcome code, and `explanation` what to do.",
        "Read the explanation, and test the instance.",
    ),
    "not_searchable": ProblemWords(
        409,
        "The server lists this and cannot search it; `reason` says why. Nothing was saved.",
        "Choose a knowledge base whose `notSearchable` is null; switch API access on where it is `api_disabled`.",
    ),
    "graph_not_built": ProblemWords(
        409,
        "`useKg` was asked for, and the server does not show that this knowledge base has a graph.",
        "Build the graph in the product first, or leave `useKg` out.",
    ),
    "no_defaults": ProblemWords(
        409,
        "The defaults were to be restored of a provider whose kind has none to go back to.",
        "Change its config instead.",
    ),
}
