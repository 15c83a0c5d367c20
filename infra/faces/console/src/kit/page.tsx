import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** One line under the title. */
  lead?: ComponentChildren;
  /** Buttons and badges beside the title. */
  actions?: ComponentChildren;
  back?: { href: string; label: string };
  children: ComponentChildren;
}

let shown = false;

/** The frame of a view: sets the window's title, and takes the focus to its heading when one has come from elsewhere. */
export function Page(props: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (shown) heading.current?.focus();
    shown = true;
    scrollTo(0, 0);
  }, []);
  useEffect(() => {
    document.title = `${props.title} · Knowledge Gateway`;
  }, [props.title]);
  return (
    <div class="page">
      {props.back && (
        <a class="back" href={props.back.href}>
          <span aria-hidden="true">← </span>
          {props.back.label}
        </a>
      )}
      <div class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {props.title}
          </h1>
          {props.lead && <p class="lead">{props.lead}</p>}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </div>
      {props.children}
    </div>
  );
}

export function Section(props: {
  title: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
  plain?: boolean;
}) {
  return (
    <section class={props.plain ? "section" : "section card"}>
      <div class="section-head">
        <h2>{props.title}</h2>
        {props.actions && <div class="actions">{props.actions}</div>}
      </div>
      {props.children}
    </section>
  );
}

/** Names and values, side by side where there is room. */
export function Facts(props: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {props.of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
