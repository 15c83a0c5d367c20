import type { HealthShown } from "../../api";
import { get } from "../../call";
import { Loaded, Page, Table } from "../../kit";
import { useLoad } from "../../load";
import type { ViewProps } from "../../views";

export function HealthView(_: ViewProps) {
  const health = useLoad(async (signal) => (await get<HealthShown>("knowledge/health", { signal })).data, []);
  return (
    <Page title="Health">
      <Loaded from={health}>
        {(data) => (
          <Table
            caption="Providers" rows={data.providers} rowKey={(one) => one.id}
            columns={[{ head: "Name", cell: (one) => one.name, kind: "main" }, { head: "State", cell: (one) => one.state }]}
          />
        )}
      </Loaded>
    </Page>
  );
}
