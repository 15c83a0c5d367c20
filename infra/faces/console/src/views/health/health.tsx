import type { HealthShown } from "../../api";
import { get } from "../../call";
import { Loaded, Page, Section } from "../../kit";
import { useLoad } from "../../load";
import type { ViewProps } from "../../views";
import { OneHealth } from "./one";
import { PoolTable } from "./pools";
import { ProviderTable } from "./provider_table";
import { Refresh } from "./refresh";
import { Summary } from "./summary";

export function HealthView({ rest }: ViewProps) {
  const [id] = rest;
  return id === undefined ? <AllHealth /> : <OneHealth id={id} />;
}

function AllHealth() {
  const health = useLoad(async (signal) => (await get<HealthShown>("knowledge/health", { signal })).data, []);
  return (
    <Page
      title="Health"
      lead="What searches have met, and what the probe found. Nobody is asked for this page."
      actions={<Refresh of={health} />}
    >
      <Loaded from={health} lines={8}>
        {(data) => (
          <>
            <Summary of={data} />
            <ProviderTable providers={data.providers} />
            <Section title="Pools" plain>
              <PoolTable pools={data.pools} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
