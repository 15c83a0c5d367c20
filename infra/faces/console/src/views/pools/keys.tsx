import type { KeyShown, PoolShown } from "../../api";
import { Badge, Button, Notice, Table, Time, type Column, type Tone } from "../../kit";
import { counted } from "../../words";

const STATES: Record<KeyShown["state"], { word: string; tone: Tone; means: string }> = {
  active: { word: "Active", tone: "ok", means: "The next operation uses it" },
  ready: { word: "Ready", tone: "neutral", means: "Used when those before it rest" },
  resting: { word: "Resting", tone: "warn", means: "Not used for a while" },
};
const REASONS: Record<NonNullable<KeyShown["reason"]>, string> = {
  quota: "its quota is spent",
  rate: "it was too fast",
  operator: "an operator said so",
};

interface Props {
  of: PoolShown;
  onRest: (key: KeyShown) => void;
  onWake: (key: KeyShown) => void;
}

/** The names of its keys, never the keys: which is in use, and which rest until when. */
export function Keys({ of, onRest, onWake }: Props) {
  if (!of.takesKeys) return <Keyless of={of} />;
  return (
    <>
      <p class="muted small-text">
        {counted(of.configured, "key")} configured, {of.usable} usable, {of.resting} resting.
        {of.readyAgainAt && (
          <>
            {" "}
            Nothing is sent until <Time at={of.readyAgainAt} both />.
          </>
        )}
      </p>
      {of.unusable.length > 0 && (
        <Notice tone="warn" title="These are configured and are no keys">
          <p class="break">{of.unusable.join(", ")}: a line break or a blank inside, say. Import them again.</p>
        </Notice>
      )}
      <Table
        caption={`Keys of ${of.pool}`}
        columns={columns(onRest, onWake)}
        rows={of.keys}
        rowKey={(one) => one.name}
        empty={
          <Notice tone="warn" title="It has no key">
            <p>
              Nothing is sent to this service. Keys are imported with <code>kgw keys import</code>.
            </p>
          </Notice>
        }
      />
    </>
  );
}

function Keyless({ of }: { of: PoolShown }) {
  return (
    <p class="muted small-text">
      It takes no keys.
      {of.readyAgainAt && (
        <>
          {" "}
          It asked to be left alone, and rests until <Time at={of.readyAgainAt} both />.
        </>
      )}
    </p>
  );
}

function columns(onRest: Props["onRest"], onWake: Props["onWake"]): Column<KeyShown>[] {
  return [
    { head: "Key", kind: "main", cell: (one) => <code>{one.name}</code> },
    {
      head: "State",
      cell: (one) => (
        <Badge tone={STATES[one.state].tone} title={STATES[one.state].means} dot>
          {STATES[one.state].word}
        </Badge>
      ),
    },
    {
      head: "Rests until",
      cell: (one) =>
        one.restingUntil && (
          <>
            <Time at={one.restingUntil} both />
            {one.reason && <div class="muted small-text">{REASONS[one.reason]}</div>}
          </>
        ),
    },
    {
      head: "Change",
      cell: (one) => (
        <div class="row">
          <Button small label={`Rest ${one.name}`} onClick={() => onRest(one)}>
            Rest
          </Button>
          {one.state === "resting" && (
            <Button small label={`Wake ${one.name}`} onClick={() => onWake(one)}>
              Wake
            </Button>
          )}
        </div>
      ),
    },
  ];
}
