/** What may be sent of what somebody wrote. */

const MAX_CHARACTERS = 300;
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\s]+/g; // the gateway takes no control character
const HALVES = /\p{Cs}/gu; // half of a character that was cut through

/** One line, without spaces around it, of at most 300 characters. "" where there is nothing to ask. */
export function tidied(text: string): string {
  return text.replace(UNSEEN, " ").trim().slice(0, MAX_CHARACTERS).replace(HALVES, "");
}
