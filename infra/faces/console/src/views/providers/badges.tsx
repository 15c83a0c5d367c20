import type { ProviderShown } from "../../api";
import { Badge, RiskBadges } from "../../kit";
import { STATUSES } from "../../words";

export function StatusBadge({ of }: { of: ProviderShown }) {
  const { word, tone } = STATUSES[of.status];
  return (
    <>
      <Badge tone={tone} dot>
        {word}
      </Badge>
      {of.needsTest && <Badge tone="warn">Needs a test</Badge>}
      {"configInvalid" in of && of.configInvalid && <Badge tone="warn">Config to renew</Badge>}
      {"rotation" in of && of.rotation && <Badge tone="info">Rotating</Badge>}
    </>
  );
}

/** What an operator has allowed for its address. These badges stay for as long as that holds. */
export function Allowed({ of }: { of: ProviderShown }) {
  if ("acknowledged" in of) return <RiskBadges risks={of.acknowledged} />;
  return of.kind === "contract" && of.allowPrivateNetwork ? <RiskBadges risks={["private_network"]} /> : null;
}
