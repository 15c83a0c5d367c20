import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useId, useRef } from "preact/hooks";

export interface Tab {
  id: string;
  label: ComponentChildren;
}

interface Props {
  label: string;
  tabs: Tab[];
  current: string;
  onCurrent: (id: string) => void;
  children: ComponentChildren;
}

/** Arrow keys, Home and End move between tabs; `children` is the panel of the current one. */
export function Tabs(props: Props) {
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const step = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const at = props.tabs.findIndex((tab) => tab.id === props.current);
    const last = props.tabs.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    const next = to === undefined ? undefined : props.tabs[to];
    if (!next) return;
    event.preventDefault();
    props.onCurrent(next.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[to ?? 0]?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={props.label} ref={list} onKeyDown={step}>
        {props.tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}${tab.id}`}
            aria-controls={`${id}panel`}
            aria-selected={tab.id === props.current}
            tabIndex={tab.id === props.current ? 0 : -1}
            onClick={() => props.onCurrent(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}panel`} aria-labelledby={`${id}${props.current}`} tabIndex={0}>
        {props.children}
      </div>
    </div>
  );
}
