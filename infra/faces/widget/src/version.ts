/** Of the element: the first number is that of its path, and changes when pages would have to. */
export const VERSION = "1.0.0";
