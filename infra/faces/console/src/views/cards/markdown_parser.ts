// The parser stands in a file of its own, fetched when Markdown is first shown: it is as large as all the rest.
import MarkdownIt, { type Token } from "markdown-it";

const parser = new MarkdownIt("default", { html: false, linkify: false, typographer: false });

export function parsed(text: string): Token[] {
  return parser.parse(text, {});
}
