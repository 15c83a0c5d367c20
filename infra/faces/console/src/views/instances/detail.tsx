import { useState } from "preact/hooks";
import { Bindings, useBindings } from "../bindings/list";
import { Button, Exposure, Facts, Loaded, Notice, Page, RiskBadges, Section, Tabs, Time } from "../../kit";
import { useLoad } from "../../load";
import { href, note } from "../../router";
import { readOne, type Read } from "./calls";
import { Catalog } from "./catalog";
import { Delete } from "./delete";
import { Edit } from "./edit";
import { PRODUCTS } from "./products";
import { TestPanel } from "./test_panel";

const TABS = [
  { id: "catalog", label: "What is on it" },
  { id: "bound", label: "Bound" },
  { id: "test", label: "Test" },
];

export function Detail({ id, query }: { id: string; query: URLSearchParams }) {
  const read = useLoad((signal) => readOne(id, signal), [id]);
  const instance = read.data?.instance;
  return (
    <Page
      title={instance?.name ?? "Instance"}
      back={{ href: href("instances"), label: "All instances" }}
      lead={
        instance && (
          <span class="row">
            <Exposure of={instance.exposureProfile} /> <RiskBadges risks={instance.acknowledged} />{" "}
            {PRODUCTS[instance.kind].name} <code>{instance.id}</code>
          </span>
        )
      }
      actions={read.data && <Actions of={read.data} onRead={read.put} onReload={read.reload} />}
    >
      <Loaded from={read}>{(data) => <Content of={data} query={query} />}</Loaded>
    </Page>
  );
}

function Actions(props: { of: Read; onRead: (read: Read) => void; onReload: () => void }) {
  const [open, setOpen] = useState<"edit" | "delete" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Button onClick={() => setOpen("edit")}>Change</Button>
      <Button kind="danger" onClick={() => setOpen("delete")}>
        Delete
      </Button>
      {open === "edit" && <Edit of={props.of} onChanged={props.onRead} onClose={close} />}
      {open === "delete" && <Delete of={props.of} onReload={props.onReload} onClose={close} />}
    </>
  );
}

function Content({ of: { instance }, query }: { of: Read; query: URLSearchParams }) {
  const bindings = useBindings(instance);
  const asked = query.get("tab") ?? "catalog";
  const tab = TABS.some((one) => one.id === asked) ? asked : "catalog";
  const tabs = TABS.map((one) => (one.id === "bound" ? { ...one, label: `Bound (${instance.bindings.length})` } : one));
  const off = bindings.data?.filter(({ provider }) => provider?.needsTest).length ?? 0;
  return (
    <>
      <Section title="The server">
        <Facts
          of={[
            ["Base URL", <code>{instance.baseUrl}</code>],
            [
              "Credential",
              instance.credentialFingerprint ? (
                <>
                  fingerprint <code>{instance.credentialFingerprint}</code>
                </>
              ) : (
                "none"
              ),
            ],
            ...(instance.credentialReachesPublicContentOnly
              ? [["Stated", "reaches public content alone"] as [string, string]]
              : []),
            ["Certificates", instance.privateAuthority ? "public authorities, and your own" : "public authorities"],
            ["Changed", <Time at={instance.updatedAt} />],
          ]}
        />
      </Section>
      {off > 0 && (
        <Notice tone="warn" title="Bindings wait for a test">
          <p>
            The address has changed, so what is bound is off until it has passed a test. See{" "}
            <a href={`${href("instances", instance.id)}?tab=bound`}>what is bound</a>.
          </p>
        </Notice>
      )}
      <Tabs
        label="This instance"
        tabs={tabs}
        current={tab}
        onCurrent={(to) => note("tab", to === "catalog" ? null : to)}
      >
        {tab === "catalog" && <Catalog of={instance} query={query} bindings={bindings.data} />}
        {tab === "bound" && <Bindings of={instance} from={bindings} />}
        {tab === "test" && <TestPanel of={instance} />}
      </Tabs>
    </>
  );
}
