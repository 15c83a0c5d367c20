import { useEffect, useRef, useState } from "preact/hooks";
import type { ProviderPage } from "../api";
import { get } from "../call";
import { Button, Field, Form, Notice } from "../kit";
import { useAction } from "../load";
import { ApiProblem } from "../problem";
import { begin, ending, type Ending } from "../session";
import { useStore } from "../store";

const WHY: Record<Ending, string> = {
  signed_out: "You are signed out. The token is forgotten.",
  idle: "You were signed out after 15 minutes without use. The token is forgotten.",
  refused: "The gateway no longer takes that token: it has ended, or somebody has switched it off.",
};

// Not a password field: a browser would offer to keep what is typed into one, and the console promises that the token is
// kept nowhere. It is masked by style, kept from form memory, and read from the field once.
export function SignIn() {
  const why = useStore(ending);
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const signingIn = useAction(async (token: string) => {
    try {
      await get<ProviderPage>("knowledge/providers", { query: { limit: 1 }, token });
    } finally {
      empty(field.current);
    }
    begin(token);
  });
  useEffect(() => {
    document.title = "Sign in · Knowledge Gateway";
    field.current?.focus();
    // A page that is gone back to comes as it was left.
    const forget = () => empty(field.current);
    addEventListener("pagehide", forget);
    return () => removeEventListener("pagehide", forget);
  }, []);
  const submit = () => {
    const token = field.current?.value.trim() ?? "";
    const wrong = wrongWith(token);
    setError(wrong);
    if (wrong) field.current?.focus();
    else void signingIn.run(token);
  };
  return (
    <main class="sign-in">
      <div class="card">
        <div class="brand">
          <span class="mark" aria-hidden="true" />
          <span>Knowledge Gateway</span>
        </div>
        <h1>Sign in to the console</h1>
        {why && !signingIn.problem && (
          <Notice tone={why === "signed_out" ? "info" : "warn"}>
            <p>{WHY[why]}</p>
          </Notice>
        )}
        <Form onSubmit={submit} problem={signingIn.problem && plainer(signingIn.problem)}>
          <Field
            label="Admin token"
            error={error}
            hint="It starts with kg_adm_. It stays in the memory of this page alone, and goes when you sign out, close or reload the page, or leave it unused for 15 minutes."
          >
            {(marks) => (
              <input
                {...marks}
                ref={field}
                type="text"
                class="mono masked"
                autocomplete="off"
                autoCapitalize="off"
                spellcheck={false}
                maxLength={400}
                required
              />
            )}
          </Field>
          <Button type="submit" kind="primary" busy={signingIn.busy}>
            Sign in
          </Button>
        </Form>
      </div>
    </main>
  );
}

function empty(field: HTMLInputElement | null): void {
  if (field) field.value = "";
}

function wrongWith(token: string): string | null {
  if (token === "") return "Enter your admin token.";
  if (/^kg_(agt|ast|pub)_/.test(token))
    return "This is no admin token. The console takes one that starts with kg_adm_.";
  if (!/^kg_adm_[!-~]+$/.test(token)) return "This is no token: one starts with kg_adm_ and has no spaces.";
  return null;
}

function plainer(problem: ApiProblem): ApiProblem {
  if (problem.status !== 401) return problem;
  const detail = "The gateway does not know this token, or it has ended. Look whether all of it was pasted.";
  return new ApiProblem({ ...problem, detail, requestId: problem.requestId });
}
