import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../../announce";
import { ProblemBox, Skeleton } from "../../kit";
import { useAction } from "../../load";
import { ApiProblem } from "../../problem";
import { counted } from "../../words";
import { AnswersShown } from "./answers";
import { askBoth, blankQuestion, type Answers, type Question } from "./asking";
import { keep } from "./asked";
import { AskedBefore } from "./asked_before";
import { QuestionForm } from "./question_form";
import type { Sources } from "./sources";

// Said here: no credential is made for a question that is none.
const NOTHING_ASKED = new ApiProblem({
  status: 422,
  code: "invalid_request",
  title: "Nothing is asked",
  violations: [{ pointer: "/query", detail: "Write a question first." }],
});

export function SearchTab({ sources }: { sources: Sources }) {
  const [question, setQuestion] = useState<Question>(blankQuestion);
  const [answers, setAnswers] = useState<Answers | null>(null);
  const under = useRef<AbortController | null>(null);
  useEffect(() => () => under.current?.abort(), []);
  const asking = useAction(async (asked: Question) => {
    if (String(asked.draft.query ?? "").trim() === "") throw NOTHING_ASKED;
    under.current = new AbortController();
    const found = await askBoth(asked, under.current.signal);
    // A question that the gateway refuses belongs to the form: its fields say what is wrong.
    if (found.agent.problem?.status === 422) throw found.agent.problem;
    keep(found);
    setAnswers(found);
    announce(summed(found), found.agent.problem ? "bad" : "ok");
  });
  const again = (asked: Question) => {
    setQuestion(asked);
    void asking.run(asked);
  };
  return (
    <div class="stack">
      <QuestionForm
        question={question}
        onQuestion={setQuestion}
        sources={sources}
        busy={asking.busy}
        problem={asking.problem?.status === 422 ? asking.problem : null}
        onAsk={() => void asking.run(question)}
        onStop={() => under.current?.abort()}
      />
      <AskedBefore onAgain={again} />
      {asking.problem && asking.problem.status !== 422 && (
        <ProblemBox of={asking.problem} onRetry={() => void asking.run(question)} />
      )}
      {asking.busy && !answers && <Skeleton label="Asking" lines={6} />}
      {answers && (
        <div class={asking.busy ? "stack stale" : "stack"} aria-busy={asking.busy}>
          <AnswersShown of={answers} sources={sources} />
        </div>
      )}
    </div>
  );
}

function summed({ agent, customer }: Answers): string {
  if (agent.problem) return `No answer: ${agent.problem.title}`;
  const seen = customer.answer ? `${customer.answer.results.length} for customers` : "no answer for customers";
  return `${agent.answer.status}: ${counted(agent.answer.results.length, "passage")} for agents, ${seen}.`;
}
