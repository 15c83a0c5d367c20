import { useState } from "preact/hooks";
import type { ProviderKind, ProviderShown } from "../../api";
import { announce } from "../../announce";
import { Button, CheckField, Form, Notice, Section, TextField } from "../../kit";
import { useAction } from "../../load";
import { counted } from "../../words";
import { test, type Read, type TestShown } from "./calls";
import { LIVE } from "./kinds";
import { Report } from "./report";

const EXTRAS: Partial<Record<ProviderKind, string[]>> = {
  context7: ["product", "repository", "version"],
  mintlify: ["product"],
  deepwiki: ["repository"],
};
const LABELS: Record<string, string> = { product: "Product", repository: "Repository", version: "Version" };

export function TestPanel({ of, onTested }: { of: ProviderShown; onTested: (read: Read) => void }) {
  const [asked, setAsked] = useState<Record<string, string>>({});
  const [activate, setActivate] = useState(of.status !== "active");
  const [report, setReport] = useState<TestShown | null>(null);
  const fetches = of.kind === "firecrawl";
  const first = fetches ? "url" : "query";
  const set = (name: string) => (value: string) => setAsked({ ...asked, [name]: value });
  const testing = useAction(async () => {
    setReport(null);
    const extras = (EXTRAS[of.kind] ?? []).filter((name) => asked[name]).map((name) => [name, asked[name]]);
    const answer = await test(of.id, { [first]: asked[first] ?? "", activate, ...Object.fromEntries(extras) });
    setReport(answer.report);
    onTested(answer.read);
    if (answer.report.activated) setActivate(false);
    announce(
      `Test: ${answer.report.status}, ${counted(answer.report.resultCount, "passage")}.`,
      answer.report.status === "failed" ? "bad" : "ok",
    );
  });
  return (
    <Section title="Test">
      {LIVE.has(of.kind) && (
        <Notice tone="warn">
          <p>This is a real operation: it uses a key, counts for the allowance, and the service may bill it.</p>
        </Notice>
      )}
      <Form onSubmit={() => void testing.run()} problem={testing.problem} label="Test">
        <div class="test-line">
          <TextField
            label={fetches ? "URL of an approved page" : "Query"}
            value={asked[first] ?? ""}
            onValue={set(first)}
            pointer={`/${first}`}
            mono={fetches}
          />
          <Button type="submit" kind="primary" busy={testing.busy}>
            Test
          </Button>
        </div>
        {EXTRAS[of.kind] && (
          <div class="two">
            {EXTRAS[of.kind]?.map((name) => (
              <TextField
                key={name}
                label={LABELS[name] ?? name}
                optional
                value={asked[name] ?? ""}
                onValue={set(name)}
                pointer={`/${name}`}
              />
            ))}
          </div>
        )}
        {of.status !== "active" && (
          <CheckField label="Turn it on when it answers" checked={activate} onValue={setActivate} pointer="/activate" />
        )}
      </Form>
      {testing.busy && (
        <p class="muted" role="status">
          Asking; this may take up to 25 seconds …
        </p>
      )}
      {report && <Report of={report} />}
    </Section>
  );
}
