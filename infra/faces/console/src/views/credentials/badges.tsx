import type { CredentialClass, CredentialShown } from "../../api";
import { Badge } from "../../kit";
import { CLASSES, stateOf, STATES } from "./classes";

export function ClassBadge({ of }: { of: CredentialClass }) {
  return (
    <Badge tone={CLASSES[of].tone} title={CLASSES[of].hint}>
      {CLASSES[of].name} <span class="mono">{of}</span>
    </Badge>
  );
}

export function StateBadge({ of }: { of: CredentialShown }) {
  const { word, tone } = STATES[stateOf(of)];
  return (
    <Badge tone={tone} dot>
      {word}
    </Badge>
  );
}
