// The place of the text that is checked.

/** The compiler's own place is before it. */
export const TEXT: usize = 1024;
