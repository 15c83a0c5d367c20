// Markdown as nodes. Nothing is ever a string of HTML: tokens become elements of a fixed list, all else is text. Links
// lead to web and mail addresses alone, and pictures are named instead of fetched.
import type { Token } from "markdown-it";
import type { ComponentChild, ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { safeUrl } from "../../kit";

type Parse = (text: string) => Token[];

let loaded: Parse | null = null;

interface Walk {
  tokens: Token[];
  at: number;
  /** Levels of the headings above this place, as they were written. */
  headings: number[];
  /** The level of the heading under which the text stands. */
  under: number;
}

const PLAIN: ReadonlySet<string> = new Set(["blockquote", "ul", "li", "thead", "tbody", "tr", "em", "strong", "s"]);

export function Markdown({ text, under }: { text: string; under: number }) {
  const parse = useParser();
  if (parse === null) return <div class="markdown keep-lines">{text}</div>;
  return <div class="markdown">{nodesOf({ tokens: parse(text), at: 0, headings: [], under })}</div>;
}

/** Null until it has come; where it cannot be fetched the text stays as it was written. */
function useParser(): Parse | null {
  const [ready, setReady] = useState(() => loaded);
  useEffect(() => {
    if (ready !== null) return;
    import("./markdown_parser").then(
      (module) => {
        loaded = module.parsed;
        setReady(() => module.parsed);
      },
      () => undefined,
    );
  }, []);
  return ready;
}

/** The nodes up to the end of the element that the walk is in. */
function nodesOf(walk: Walk): ComponentChild[] {
  const nodes: ComponentChild[] = [];
  while (walk.at < walk.tokens.length) {
    const token = walk.tokens[walk.at++];
    if (!token || token.nesting === -1) break;
    nodes.push(token.nesting === 1 ? elementOf(token, walk) : leafOf(token, walk));
  }
  return nodes;
}

function elementOf(token: Token, walk: Walk): ComponentChild {
  const start = walk.at;
  const level = token.type === "heading_open" ? levelOf(token, walk) : 0;
  const inside = nodesOf(walk);
  const isEmpty = plainTextOf(walk.tokens.slice(start, walk.at)).trim() === "";
  if (PLAIN.has(token.tag)) {
    const Tag = token.tag as "ul";
    return <Tag>{inside}</Tag>;
  }
  switch (token.type) {
    case "paragraph_open":
      return token.hidden ? <>{inside}</> : <p>{inside}</p>;
    case "heading_open":
      return isEmpty ? null : <Heading level={level}>{inside}</Heading>;
    case "ordered_list_open":
      return <ol start={Number(token.attrGet("start") ?? 1)}>{inside}</ol>;
    case "table_open":
      return (
        <div class="md-table" role="group" aria-label="Table" tabIndex={0}>
          <table>{inside}</table>
        </div>
      );
    case "th_open":
      return isEmpty ? (
        <td class={alignOf(token)}>{inside}</td>
      ) : (
        <th class={alignOf(token)} scope="col">
          {inside}
        </th>
      );
    case "td_open":
      return <td class={alignOf(token)}>{inside}</td>;
    case "link_open":
      return (
        <Link to={String(token.attrGet("href") ?? "")} isEmpty={isEmpty}>
          {inside}
        </Link>
      );
    default:
      return <>{inside}</>;
  }
}

function leafOf(token: Token, walk: Walk): ComponentChild {
  switch (token.type) {
    case "inline":
      return <>{nodesOf({ ...walk, tokens: token.children ?? [], at: 0 })}</>;
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return <code>{token.content}</code>;
    case "code_block":
    case "fence":
      return (
        <pre tabIndex={0}>
          <code>{token.content}</code>
        </pre>
      );
    case "image":
      return <Picture address={String(token.attrGet("src") ?? "")} named={token.content} />;
    default:
      return token.content;
  }
}

// Headings of a card stand under the page's own, one step at a time, whatever levels were written.
function levelOf(token: Token, walk: Walk): number {
  const written = Number(token.tag.slice(1));
  while ((walk.headings.at(-1) ?? 0) >= written) walk.headings.pop();
  walk.headings.push(written);
  return Math.min(walk.under + walk.headings.length, 6);
}

function plainTextOf(tokens: Token[]): string {
  return tokens.map((token) => (token.children ? plainTextOf(token.children) : "") + token.content).join("");
}

function alignOf(token: Token): string {
  const style = String(token.attrGet("style") ?? "");
  return style.endsWith("right") ? "md-right" : style.endsWith("center") ? "md-center" : "";
}

function Heading({ level, children }: { level: number; children: ComponentChildren }) {
  const Tag = `h${level}` as "h4";
  return <Tag>{children}</Tag>;
}

/** Where a link of a card may lead; null for everything else. */
export function judged(address: string): string | null {
  if (/^mailto:[^\s<>"']+$/i.test(address)) return address;
  return safeUrl(address);
}

function Link({ to, isEmpty, children }: { to: string; isEmpty: boolean; children: ComponentChildren }) {
  const address = judged(to);
  if (address === null)
    return (
      <span class="md-refused">
        {children} <code>({to})</code>
      </span>
    );
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {isEmpty ? address : children}
    </a>
  );
}

function Picture({ address, named }: { address: string; named: string }) {
  return (
    <span class="md-picture">
      Picture, not loaded: {named} <code>{address}</code>
    </span>
  );
}
