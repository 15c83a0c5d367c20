// What came from elsewhere: shown as text, and linked to only where the address is a plain web address.

/** The address, where a browser may be sent there; null for every other scheme and for one with a user's name. */
export function safeUrl(given: string | null | undefined): string | null {
  if (!given || /[\u0000-\u0020]/.test(given)) return null;
  try {
    const url = new URL(given);
    const web = url.protocol === "https:" || url.protocol === "http:";
    return web && url.username === "" && url.password === "" ? url.href : null;
  } catch {
    return null;
  }
}

export function OutsideLink(props: { url: string | null | undefined; children?: string }) {
  const text = props.children ?? props.url ?? "";
  const url = safeUrl(props.url);
  if (!url) return <span class="break">{text}</span>;
  return (
    <a class="break" href={url} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}
