// Fields that every provider has, however it is made: the first of a form, and the last ones.
import type { Spec } from "../kit";

export const NAME: Spec = { at: "name", label: "Name", as: "text", hint: "One line for people." };

export const LAST: Spec[] = [
  {
    at: "priority",
    label: "Priority",
    as: "integer",
    first: "100",
    hint: "0 to 1000; lower comes first in a merged answer.",
    group: "Order and attribution",
  },
  {
    at: "module",
    label: "Module",
    as: "text",
    optional: true,
    hint: "A slug to attribute it to a team or product.",
    group: "Order and attribution",
  },
];
