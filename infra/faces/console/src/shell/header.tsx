import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../kit";
import { href, useRoute } from "../router";
import { end } from "../session";
import { VIEWS } from "../views";

/** Brand, navigation and the way out. On a phone the navigation unfolds from a button. */
export function Header(props: { current: string }) {
  const [open, setOpen] = useState(false);
  const route = useRoute();
  const box = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [route]);
  const close = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    setOpen(false);
    box.current?.querySelector<HTMLElement>(".menu button")?.focus();
  };
  return (
    <header class={open ? "side open" : "side"} ref={box} onKeyDown={close}>
      <div class="brand">
        <span class="mark" aria-hidden="true" />
        <span>
          Knowledge Gateway<span class="muted host">{location.host}</span>
        </span>
      </div>
      <div class="menu">
        <Button small expanded={open} controls="navigation" onClick={() => setOpen(!open)}>
          Menu
        </Button>
      </div>
      <nav id="navigation" aria-label="Console">
        <ul>
          {VIEWS.map(({ path, title }) => (
            <li key={path}>
              <a href={href(path)} aria-current={path === props.current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="leave">
        <Button small onClick={() => end("signed_out")}>
          Sign out
        </Button>
      </div>
    </header>
  );
}
