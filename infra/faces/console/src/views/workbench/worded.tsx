/** The gateway's own sentences, whose names stand between backticks. */
export function Worded({ of }: { of: string }) {
  return <>{of.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}
