import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button, DraftFields, Exposure, Field, Form, Notice, type Draft } from "../../kit";
import { fewOf, named } from "../../naming";
import type { ApiProblem } from "../../problem";
import { KINDS } from "../../words";
import { AGENT_ONLY, COMMON, unsaid, type Question } from "./asking";
import { Picks } from "./picks";
import type { Sources } from "./sources";

interface Props {
  question: Question;
  onQuestion: (question: Question) => void;
  sources: Sources;
  busy: boolean;
  problem: ApiProblem | null;
  onAsk: () => void;
  onStop: () => void;
}

export function QuestionForm(props: Props) {
  const { question, onQuestion } = props;
  const setDraft = (draft: Draft) => onQuestion({ ...question, draft });
  const narrowed = unsaid(question).length > 0 || question.collections.length > 0;
  const [open, setOpen] = useState(narrowed);
  useEffect(() => {
    if (narrowed) setOpen(true);
  }, [narrowed]);
  return (
    <div class="card question">
      <Form label="Ask" onSubmit={props.onAsk} problem={props.problem}>
        <Query {...props} />
        <div class="options">
          <DraftFields specs={COMMON} draft={question.draft} onDraft={setDraft} />
        </div>
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Providers, collections, and more for live services</summary>
          <div class="stack more">
            <Narrowing {...props} />
            <div class="options">
              <DraftFields specs={AGENT_ONLY} draft={question.draft} onDraft={setDraft} />
            </div>
            <p class="muted small-text">
              Customers cannot name providers, freshness, product, repository or version: these go with the agent's
              question alone.
            </p>
          </div>
        </details>
        <Cost sources={props.sources} />
      </Form>
    </div>
  );
}

function Query({ question, onQuestion, busy, onAsk, onStop }: Props) {
  const send = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    onAsk();
  };
  return (
    <div class="query">
      <Field label="Question" pointer="/query" hint="Enter asks; Shift and Enter begins a new line.">
        {(marks) => (
          <textarea
            {...marks}
            rows={2}
            value={String(question.draft.query ?? "")}
            autocomplete="off"
            required
            onKeyDown={send}
            onInput={(event) =>
              onQuestion({ ...question, draft: { ...question.draft, query: event.currentTarget.value } })
            }
          />
        )}
      </Field>
      <div class="row">
        <Button type="submit" kind="primary" busy={busy}>
          Ask as both
        </Button>
        {busy && <Button onClick={onStop}>Stop</Button>}
      </div>
    </div>
  );
}

function Narrowing({ question, onQuestion, sources }: Props) {
  return (
    <div class="two">
      <Picks
        label="Providers"
        none="All that are active"
        chosen={question.providers}
        onChosen={(providers) => onQuestion({ ...question, providers })}
        of={sources.providers.map((one) => ({
          id: one.id,
          name: one.name,
          beside: (
            <>
              <Exposure of={one.exposureProfile} /> {KINDS[one.kind]}
              {one.status !== "active" && ", not active"}
            </>
          ),
        }))}
      />
      <Picks
        label="Collections of cards"
        none="None"
        chosen={question.collections}
        onChosen={(collections) => onQuestion({ ...question, collections })}
        of={sources.collections.map((one) => ({
          id: one.id,
          name: one.name,
          beside: <Exposure of={one.exposureProfile} />,
        }))}
      />
    </div>
  );
}

function Cost({ sources }: { sources: Sources }) {
  const live = sources.providers.filter(
    (one) => one.status === "active" && ["context7", "exa", "mintlify", "deepwiki"].includes(one.kind),
  );
  if (live.length === 0) return null;
  return (
    <Notice>
      <p>
        Questions are real: each counts for the allowance of {fewOf(live.map(named))}, which may bill it, unless other
        providers are chosen.
      </p>
    </Notice>
  );
}
