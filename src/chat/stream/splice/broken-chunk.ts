/** A chunk or an answer without the form that the wire promises. */
export class BrokenChunk extends Error {}
