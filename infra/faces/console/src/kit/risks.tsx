// The two risks that an operator may take for a server, how they are asked about, and that they always stay in sight.
import type { Acknowledge, Risk } from "../api";
import type { ApiProblem } from "../problem";
import { Badge } from "./badge";
import { CheckField } from "./field";
import { Notice } from "./problem";

const WORDS: Record<Risk, { badge: string; means: string }> = {
  plain_http: { badge: "Plain http", means: "There is no TLS: credential and passages can be read on the way." },
  private_network: { badge: "Private network", means: "The server has an address of a private network." },
};

export function RiskBadges(props: { risks: readonly Risk[] }) {
  return (
    <>
      {props.risks.map((risk) => (
        <Badge key={risk} tone="warn" title={WORDS[risk].means}>
          {WORDS[risk].badge}
        </Badge>
      ))}
    </>
  );
}

/** What a `risk_not_acknowledged` asks for; null for every other problem. */
export function askedBy(problem: ApiProblem | null): Acknowledge | null {
  if (problem?.code !== "risk_not_acknowledged") return null;
  const { baseUrl, risks } = problem.more;
  const known = Array.isArray(risks) ? risks.filter((risk): risk is Risk => risk in WORDS) : [];
  return typeof baseUrl === "string" && known.length > 0 ? { url: baseUrl, risks: known } : null;
}

/** Shown once the gateway has asked. `accepted` goes into the body as `acknowledge`. */
export function RiskQuestion(props: {
  asked: Acknowledge;
  accepted: Acknowledge | null;
  onAccepted: (accepted: Acknowledge | null) => void;
}) {
  return (
    <Notice tone="warn" title="This address needs your word">
      <ul>
        {props.asked.risks.map((risk) => (
          <li key={risk}>{WORDS[risk].means}</li>
        ))}
      </ul>
      <CheckField
        label={
          <>
            I accept that for <code>{props.asked.url}</code>. It is audited, and shown with it for good.
          </>
        }
        checked={props.accepted?.url === props.asked.url}
        onValue={(checked) => props.onAccepted(checked ? props.asked : null)}
      />
    </Notice>
  );
}
