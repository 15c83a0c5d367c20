/** Words for the owner of the site: each at most once a page, and never a visitor's query or the key. */

const said = new Set<string>();

export function warnOnce(text: string): void {
  if (said.has(text)) return;
  said.add(text);
  console.warn(`<knowledge-search>: ${text}.`);
}
