/** The one style sheet, adopted by the shadow tree: no element and no attribute for a page's policy to refuse. */

const LIGHT = `--_bg:var(--ks-background,#fff);--_text:var(--ks-text,#1c2127);--_muted:var(--ks-muted,#57606a);
--_line:var(--ks-border,#d5dae1);--_edge:var(--ks-field-border,#818b96);--_accent:var(--ks-accent,#0a58ca);
--_hover:var(--ks-hover,#f0f5fc);--_mark:var(--ks-mark,#fff3c4);
--_shadow:var(--ks-shadow,0 1px 2px rgb(20 30 45/.06),0 12px 32px rgb(20 30 45/.14));--_scheme:light`;

const DARK = `--_bg:var(--ks-background,#171b21);--_text:var(--ks-text,#e8ecf1);--_muted:var(--ks-muted,#a3adb8);
--_line:var(--ks-border,#343b45);--_edge:var(--ks-field-border,#77818d);--_accent:var(--ks-accent,#7db4ff);
--_hover:var(--ks-hover,#222c3a);--_mark:var(--ks-mark,#473a0d);
--_shadow:var(--ks-shadow,0 1px 2px rgb(0 0 0/.4),0 12px 32px rgb(0 0 0/.55));--_scheme:dark`;

const FRAME = `
:host{all:initial;color:inherit;color-scheme:inherit;visibility:inherit;pointer-events:inherit;interactivity:inherit;
display:block;position:relative;box-sizing:border-box;min-inline-size:0;
font-family:var(--ks-font,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans Arabic","Noto Sans SC",sans-serif);
font-size:var(--ks-font-size,medium);line-height:1.45;-webkit-text-size-adjust:100%;${LIGHT}}
:host([theme=dark]){${DARK}}
@media (prefers-color-scheme:dark){:host(:not([theme=light])){${DARK}}}
:host([layout=dialog]){display:inline-block;max-inline-size:100%}
:host([hidden]),[hidden]{display:none!important}
*,*::before,*::after{box-sizing:border-box}
button,input,kbd{font:inherit;color:inherit;letter-spacing:inherit}
button{cursor:pointer;background:none;border:0;border-radius:calc(var(--_radius) - 2px);margin:0;padding:0}
button:disabled{cursor:default}
:focus{outline:none}
:focus-visible{outline:2px solid var(--ks-focus,var(--_accent));outline-offset:2px}
.box,.trigger,dialog{--_radius:var(--ks-radius,.625em);color:var(--_text);color-scheme:var(--_scheme)}
.icon{inline-size:1.25em;block-size:1.25em;flex:none;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.sr{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap;inset-block-start:0;inset-inline-start:0}
kbd{font-size:.75em;line-height:1;color:var(--_muted);border:1px solid var(--_line);border-radius:.35em;padding:.3em .5em;flex:none;white-space:nowrap}
`;

const FIELD = `
.box{position:relative}
.field{display:flex;align-items:center;gap:.5em;min-block-size:2.75em;padding-inline:.75em .375em;
background:var(--_bg);color:var(--_muted);border:1px solid var(--_edge);border-radius:var(--_radius)}
.field:focus-within{border-color:var(--ks-focus,var(--_accent));outline:2px solid var(--ks-focus,var(--_accent));outline-offset:-1px}
input{flex:1;align-self:stretch;min-inline-size:0;inline-size:100%;background:none;border:0;margin:0;padding:.5em 0;color:var(--_text);outline:none!important;text-overflow:ellipsis}
input::placeholder{color:var(--_muted);opacity:1}
.field:focus-within kbd,.box[data-written] kbd{display:none}
.field kbd{margin-inline-end:.375em}
.clear,.close{display:grid;place-items:center;min-inline-size:2em;min-block-size:2em;color:var(--_muted);flex:none}
.close{padding-inline:.6em;min-block-size:2.75em}
.clear:hover,.close:hover{color:var(--_text);background:var(--_hover)}
.sign{display:grid;flex:none}
.box[data-busy] .sign .icon{visibility:hidden}
.sign::after{content:"";grid-area:1/1;place-self:center;inline-size:1em;block-size:1em;border:2px solid var(--_line);border-block-start-color:var(--_accent);border-radius:50%;visibility:hidden}
.sign .icon{grid-area:1/1}
.box[data-busy] .sign::after{visibility:inherit}
.box[data-off] .field{border-style:dashed}
.trigger{display:inline-flex;align-items:center;gap:.5em;min-block-size:2.5em;padding:.4em .8em;background:var(--_bg);
color:var(--_muted);border:1px solid var(--_edge);border-radius:var(--_radius);max-inline-size:100%;text-align:start}
.trigger span{min-inline-size:0;overflow-wrap:anywhere}
.trigger:hover:enabled{color:var(--_text);background:var(--_hover)}
@media (prefers-reduced-motion:no-preference){.box[data-busy] .sign::after{animation:turn .9s linear infinite}@keyframes turn{to{rotate:1turn}}}
@media (hover:none){kbd{display:none}}
`;

const POPUP = `
.popup{position:absolute;inset-inline:0;inset-block-start:calc(100% + .375em);z-index:var(--ks-z-index,1000);overflow:auto;overscroll-behavior:contain;
max-block-size:var(--ks-popup-max-height,min(70vh,30em));background:var(--_bg);border:1px solid var(--_line);border-radius:var(--_radius);box-shadow:var(--_shadow);padding:.375em}
.message{display:flex;flex-wrap:wrap;align-items:center;gap:.5em .75em;padding:.75em;color:var(--_muted)}
.message p{margin:0;flex:1 1 12em;overflow-wrap:anywhere}
.retry{padding:.4em .9em;min-block-size:2.25em;color:var(--_accent);border:1px solid currentColor;font-weight:600}
.retry:hover{background:var(--_hover)}
slot{display:block;flex-basis:100%}
.message slot{color:var(--_text)}
[role=listbox]{display:block}
[role=listbox][aria-busy=true]{opacity:.6}
[role=option]{display:block;position:relative;padding:.7em .8em;border-radius:calc(var(--_radius) - .125em);color:var(--_text);text-decoration:none;overflow-wrap:anywhere;scroll-margin:.375em}
[role=option]+[role=option]{margin-block-start:.125em}
a[role=option]:hover,[aria-selected=true]{background:var(--_hover)}
[aria-selected=true]::before{content:"";position:absolute;inset-block:.5em;inset-inline-start:0;inline-size:3px;border-radius:3px;background:var(--_accent)}
.title{display:block;font-weight:600}
a .title{color:var(--_accent)}
a:hover .title{text-decoration:underline;text-underline-offset:.2em}
.snippet{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;margin-block-start:.15em;font-size:.9375em}
.meta{display:flex;flex-wrap:wrap;gap:0 1em;margin-block-start:.3em;font-size:.8125em;color:var(--_muted)}
mark{background:var(--_mark);color:inherit;border-radius:.15em}
`;

const DIALOG = `
dialog{inline-size:min(40em,100vw - 2em);max-inline-size:none;max-block-size:min(85vh,42em);margin-block:8vh auto;margin-inline:auto;padding:0;border:1px solid var(--_line);
border-radius:calc(var(--_radius) + .25em);background:var(--_bg);color:var(--_text);box-shadow:var(--_shadow);overflow:hidden}
dialog::backdrop{background:rgb(10 15 25/.45)}
dialog[open]{display:flex;flex-direction:column}
dialog .box{display:flex;flex-direction:column;min-block-size:0}
dialog .head{display:flex;flex-wrap:wrap;align-items:center;justify-content:flex-end;gap:.375em;padding:.625em}
dialog .field{flex:1 1 10em;min-inline-size:0}
dialog .popup{position:static;max-block-size:none;min-block-size:0;border:0;border-block-start:1px solid var(--_line);border-radius:0;box-shadow:none}
@media (pointer:coarse){.clear,.close,.retry{min-inline-size:2.75em;min-block-size:2.75em}.trigger,.field{min-block-size:3em}}
@media (max-width:40em){dialog{margin-block:1em auto;inline-size:calc(100vw - 1em);max-block-size:calc(100vh - 2em)}}
@media (prefers-contrast:more){:host{--_line:var(--_edge)}}
@media (forced-colors:active){[aria-selected=true]{outline:2px solid Highlight;outline-offset:-2px}mark{background:Mark;color:MarkText}
.field:focus-within{outline-color:Highlight}input:disabled{color:GrayText}}
`;

const sheets = new WeakMap<Document, CSSStyleSheet>();

/** Where a browser cannot adopt sheets the element works without any, and pages style it by its parts. */
export function adoptStyles(root: ShadowRoot): void {
  if ("adoptedStyleSheets" in root) root.adoptedStyleSheets = [sheetOf(root.ownerDocument)];
}

/** A sheet serves the document alone that it was made in. */
function sheetOf(page: Document): CSSStyleSheet {
  const sheet = sheets.get(page) ?? new (page.defaultView ?? window).CSSStyleSheet();
  if (!sheets.has(page)) sheet.replaceSync(FRAME + FIELD + POPUP + DIALOG);
  sheets.set(page, sheet);
  return sheet;
}
