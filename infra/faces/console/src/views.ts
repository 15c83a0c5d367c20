// Which views there are, in the order of the navigation. A view is a folder under views/ and one line here.
import type { ComponentType } from "preact";
import { AuditView } from "./views/audit/audit";
import { CardsView } from "./views/collections/collections";
import { CredentialsView } from "./views/credentials/credentials";
import { HealthView } from "./views/health/health";
import { InstancesView } from "./views/instances/instances";
import { PoolsView } from "./views/pools/pools";
import { ProvidersView } from "./views/providers/providers";
import { WorkbenchView } from "./views/workbench/workbench";

export interface ViewProps {
  /** The segments of the address after the view's own. */
  rest: string[];
  query: URLSearchParams;
}

interface View {
  path: string;
  title: string;
  view: ComponentType<ViewProps>;
}

export const VIEWS: View[] = [
  { path: "health", title: "Health", view: HealthView },
  { path: "providers", title: "Providers", view: ProvidersView },
  { path: "instances", title: "Instances", view: InstancesView },
  { path: "workbench", title: "Workbench", view: WorkbenchView },
  { path: "cards", title: "Cards", view: CardsView },
  { path: "pools", title: "Pools", view: PoolsView },
  { path: "credentials", title: "Credentials", view: CredentialsView },
  { path: "audit", title: "Audit", view: AuditView },
];
