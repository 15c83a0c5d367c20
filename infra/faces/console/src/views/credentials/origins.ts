// Origins of websites, looked at before the gateway is asked: it has the last word.

/** Why a browser's page could never send this as its origin, or why it may not be listed; null where nothing is wrong. */
export function wrongWithOrigin(text: string): string | null {
  if (text.toLowerCase() === "null") {
    return "null is what every sandboxed frame, local file and data: page sends: listed, it would let any of them in.";
  }
  if (text.includes("*")) {
    return `${text}: no wildcards. Whoever gets hold of one host below it could use the key, so each origin is listed by itself.`;
  }
  if (!/^https?:\/\//i.test(text)) return `${text}: begin with https:// and the host, as in https://help.example.com.`;
  return wrongWithUrl(text);
}

function wrongWithUrl(text: string): string | null {
  const rest = text.replace(/^https?:\/\//i, "");
  if (/[/?#]/.test(rest)) return `${text}: an origin ends with its host or port, without a path and without a slash.`;
  if (rest.includes("@")) return `${text}: an origin has no user name.`;
  if (!URL.canParse(text)) return `${text}: this is no origin.`;
  const { protocol, hostname } = new URL(text);
  const here = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol === "http:" && !here) return `${text}: only https. Over http anybody on the way could use the key.`;
  return null;
}

export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
}
