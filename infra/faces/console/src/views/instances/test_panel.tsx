import { useState } from "preact/hooks";
import type { Finding, InstanceShown, InstanceTestShown } from "../../api";
import { announce } from "../../announce";
import { Badge, Button, Facts, Form, FormFoot, Notice, RiskBadges, TextField, type Tone, Worded } from "../../kit";
import { useAction } from "../../load";
import { counted, warningText } from "../../words";
import { test } from "./calls";
import { PRODUCTS } from "./products";

const TONES: Record<Finding, Tone> = { passed: "ok", failed: "bad", untested: "neutral" };
const FINDINGS: ["reachable" | "authenticated" | "listReadable" | "retrieval", string, string][] = [
  ["reachable", "Reachable", "Something answered at that address."],
  ["authenticated", "Authenticated", "The credential was sent and accepted."],
  ["listReadable", "List readable", "The list of knowledge bases came."],
  ["retrieval", "Search", "One search came through, with or without hits."],
];
const LIST_FORBIDDEN = "This key may not read the list. Bind with ids that you read in the product.";

export function TestPanel({ of }: { of: InstanceShown }) {
  const [query, setQuery] = useState("");
  const [remoteId, setRemoteId] = useState("");
  const [found, setFound] = useState<InstanceTestShown | null>(null);
  const testing = useAction(async () => {
    setFound(null);
    const body = { query: query.trim() || null, remoteId: remoteId.trim() || null };
    const report = await test(of.id, body);
    setFound(report);
    announce(report.errorCode ? `Test: ${report.errorCode}.` : "The test has passed.", report.errorCode ? "bad" : "ok");
  });
  return (
    <div class="stack">
      <Form onSubmit={() => void testing.run()} problem={testing.problem} label="Test the server">
        <p class="muted">
          Reads the list. With a query and an id it searches that knowledge base too. Nothing is changed by it.{" "}
          {PRODUCTS[of.kind].traces}
        </p>
        <div class="two">
          <TextField label="Query" optional value={query} onValue={setQuery} pointer="/query" />
          <TextField
            label="Id of a knowledge base"
            optional
            mono
            value={remoteId}
            onValue={setRemoteId}
            pointer="/remoteId"
          />
        </div>
        <FormFoot>
          <Button type="submit" kind="primary" busy={testing.busy}>
            Test
          </Button>
        </FormFoot>
      </Form>
      {testing.busy && (
        <p class="muted" role="status">
          Asking; this may take up to 25 seconds …
        </p>
      )}
      {found && <Found of={found} />}
    </div>
  );
}

function Found({ of }: { of: InstanceTestShown }) {
  return (
    <div class="card found">
      <ul class="findings">
        {FINDINGS.map(([name, title, means]) => (
          <li key={name}>
            <Badge tone={TONES[of[name]]} dot>
              {of[name]}
            </Badge>
            <span>
              <strong>{title}</strong> <span class="muted small-text">{means}</span>
            </span>
          </li>
        ))}
      </ul>
      {of.errorCode && (
        <Notice tone="bad">
          <p>
            <code>{of.errorCode}</code> <Worded of={of.explanation} />
          </p>
        </Notice>
      )}
      {of.warnings.map((code) => (
        <Notice key={code} tone="warn">
          <p>{code === "list_forbidden" ? LIST_FORBIDDEN : warningText(code)}</p>
        </Notice>
      ))}
      <Facts
        of={[
          ["Version", of.version ?? "not told"],
          ["Hits of the search", of.resultCount === null ? "none was made" : counted(of.resultCount, "passage")],
          ["Took", `${of.durationMs} ms`],
          ["Asked at", <code>{of.effective.baseUrl}</code>],
          [
            "With the credential",
            of.effective.credentialFingerprint ? <code>{of.effective.credentialFingerprint}</code> : "none",
          ],
          [
            "Accepted risks",
            of.effective.acknowledged.length > 0 ? <RiskBadges risks={of.effective.acknowledged} /> : "none",
          ],
          ["Waits at most", `${of.effective.timeoutMs} ms`],
        ]}
      />
    </div>
  );
}
