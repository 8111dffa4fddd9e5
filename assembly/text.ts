// Where a text is put that is to be judged.

/** The compiler's own place is before it. */
export const TEXT: usize = 1024;
