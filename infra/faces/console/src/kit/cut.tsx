/** A text of any length in two lines of a list. The whole is its title, and stands on the page of the thing itself. */
export function Cut({ text }: { text: string }) {
  return (
    <span class="cut" title={text}>
      {text}
    </span>
  );
}
