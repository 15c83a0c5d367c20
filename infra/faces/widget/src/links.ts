/** Which texts may become links. The gateway has judged them before; nothing is taken on its word. */

const MAX_CHARACTERS = 2048;
// Browsers drop or bend these before they read a scheme or a host, and no sound address shows one of them bare.
const NEVER = /[\u0000-\u0020\u007f-\u00a0"<>\\^`{|}\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/;
const ABSOLUTE = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i;

/** The parsed address of an absolute http(s) URL without user name and password; null for every other text. */
export function linkTo(text: unknown): URL | null {
  if (typeof text !== "string" || text.length > MAX_CHARACTERS || NEVER.test(text) || !ABSOLUTE.test(text)) return null;
  try {
    const url = new URL(text);
    const isWeb = url.protocol === "https:" || url.protocol === "http:";
    return isWeb && url.hostname && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}
