/** What the element says, in four languages; a site may say any of it in its own words. */

import { areAlike, baseOf } from "./languages";

/** `{query}`, `{count}` and `{time}` are filled in. `results` has one text for each plural form of its language. */
export interface Strings {
  label: string;
  placeholder: string;
  open: string;
  close: string;
  clear: string;
  list: string;
  results: string | Partial<Record<Intl.LDMLPluralRule, string>>;
  empty: string;
  loading: string;
  slow: string;
  offline: string;
  unavailable: string;
  limited: string;
  limitedStill: string;
  refused: string;
  retry: string;
  noLink: string;
  newTab: string;
}

const en: Strings = {
  label: "Search the help pages",
  placeholder: "Search…",
  open: "Search",
  close: "Close",
  clear: "Clear",
  list: "Results",
  results: { one: "{count} result", other: "{count} results" },
  empty: "Nothing found for “{query}”",
  loading: "Searching…",
  slow: "Still searching. This takes a little longer than usual.",
  offline: "You are offline. The search goes on when you are back.",
  unavailable: "The search is temporarily unavailable.",
  limited: "Too many searches at once. Trying again in {time}.",
  limitedStill: "Too many searches at once. Please wait a while.",
  refused: "The search is not available on this page.",
  retry: "Try again",
  noLink: "without a link",
  newTab: "opens in a new tab",
};

const de: Strings = {
  label: "Hilfeseiten durchsuchen",
  placeholder: "Suchen …",
  open: "Suche",
  close: "Schließen",
  clear: "Eingabe löschen",
  list: "Ergebnisse",
  results: { one: "{count} Ergebnis", other: "{count} Ergebnisse" },
  empty: "Nichts gefunden zu „{query}“",
  loading: "Suche läuft …",
  slow: "Die Suche läuft noch. Es dauert etwas länger als sonst.",
  offline: "Sie sind offline. Die Suche geht weiter, sobald Sie wieder verbunden sind.",
  unavailable: "Die Suche ist vorübergehend nicht verfügbar.",
  limited: "Zu viele Suchen auf einmal. Nächster Versuch in {time}.",
  limitedStill: "Zu viele Suchen auf einmal. Bitte warten Sie etwas.",
  refused: "Die Suche ist auf dieser Seite nicht verfügbar.",
  retry: "Erneut versuchen",
  noLink: "ohne Link",
  newTab: "öffnet in neuem Tab",
};

const zh: Strings = {
  label: "搜索帮助页面",
  placeholder: "搜索…",
  open: "搜索",
  close: "关闭",
  clear: "清除",
  list: "搜索结果",
  results: "{count} 条结果",
  empty: "没有找到与“{query}”相关的内容",
  loading: "正在搜索…",
  slow: "仍在搜索，所需时间比平时稍长。",
  offline: "您已离线。恢复连接后将继续搜索。",
  unavailable: "搜索暂时不可用。",
  limited: "搜索过于频繁，将在{time}后重试。",
  limitedStill: "搜索过于频繁，请稍后再试。",
  refused: "此页面无法使用搜索。",
  retry: "重试",
  noLink: "无链接",
  newTab: "在新标签页中打开",
};

const ar: Strings = {
  label: "البحث في صفحات المساعدة",
  placeholder: "ابحث…",
  open: "بحث",
  close: "إغلاق",
  clear: "مسح",
  list: "النتائج",
  results: {
    zero: "لا نتائج",
    one: "نتيجة واحدة",
    two: "نتيجتان",
    few: "{count} نتائج",
    many: "{count} نتيجة",
    other: "{count} نتيجة",
  },
  empty: "لم يُعثر على شيء عن «{query}»",
  loading: "جارٍ البحث…",
  slow: "ما زال البحث جاريًا، وقد يستغرق وقتًا أطول من المعتاد.",
  offline: "أنت غير متصل بالإنترنت. سيُستأنف البحث عند عودة الاتصال.",
  unavailable: "البحث غير متاح مؤقتًا.",
  limited: "عمليات بحث كثيرة في وقت واحد. ستُعاد المحاولة خلال {time}.",
  limitedStill: "عمليات بحث كثيرة في وقت واحد. يُرجى الانتظار قليلًا.",
  refused: "البحث غير متاح في هذه الصفحة.",
  retry: "إعادة المحاولة",
  noLink: "بلا رابط",
  newTab: "يُفتح في علامة تبويب جديدة",
};

const LANGUAGES: Record<string, Strings> = { en, de, zh, ar };
const RIGHT_TO_LEFT = /^(ar|arc|azb|ckb|dv|fa|he|iw|ks|lrc|mzn|nqo|pnb|ps|sd|syr|ug|ur|yi)(-|$)|-(arab|hebr)(-|$)/i;

export function directionOf(locale: string): "rtl" | "ltr" {
  return RIGHT_TO_LEFT.test(locale) ? "rtl" : "ltr";
}

/** The words in one language, by a tag that browsers take. Where there are none for it: English, and `language` says so. */
export class Words {
  readonly language: string;
  private readonly strings: Strings;

  constructor(locale: string, own: Partial<Strings>) {
    const base = baseOf(locale);
    this.language = base in LANGUAGES ? locale : "en";
    this.strings = { ...(LANGUAGES[base] ?? en), ...own };
  }

  text(name: Exclude<keyof Strings, "results">): string {
    return this.strings[name];
  }

  results(count: number): string {
    const texts = this.strings.results;
    const form = new Intl.PluralRules(this.language).select(count);
    const text = typeof texts === "string" ? texts : (texts[form] ?? texts.other ?? "{count}");
    return text.replace("{count}", new Intl.NumberFormat(this.language).format(count));
  }

  seconds(count: number): string {
    const unit = { style: "unit", unit: "second", unitDisplay: "long" } as const;
    return new Intl.NumberFormat(this.language, unit).format(count);
  }

  /** The name of another language than the one that is spoken here; "" for this one and for what has no name. */
  otherLanguage(tag: string): string {
    if (!tag || areAlike(tag, this.language)) return "";
    return new Intl.DisplayNames(this.language, { type: "language", fallback: "none" }).of(tag) ?? "";
  }
}

/** Of what a site gave as its own words, those that are known and of the right type. */
export function ownWords(given: unknown): Partial<Strings> {
  const own: Record<string, unknown> = {};
  if (typeof given !== "object" || given === null) return own;
  for (const [name, text] of Object.entries(given)) {
    if (Object.hasOwn(en, name) && (typeof text === "string" || (name === "results" && arePlurals(text)))) own[name] = text;
  }
  return own;
}

function arePlurals(texts: unknown): boolean {
  return typeof texts === "object" && texts !== null && Object.values(texts).every((text) => typeof text === "string");
}
