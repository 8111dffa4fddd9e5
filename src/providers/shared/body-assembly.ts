// The body of a request in pieces, so that the caller's bytes are neither parsed nor copied.

export class BodyAssembly {
  /** Members that are not sent, or weaker. */
  readonly edits = new Set<string>();
  private readonly pieces: Buffer[] = [];

  /** `value`: JSON text. */
  add(name: string, value: Buffer | string): void {
    const separator = this.pieces.length === 0 ? '{' : ',';
    this.pieces.push(Buffer.from(`${separator}${JSON.stringify(name)}:`));
    this.pieces.push(typeof value === 'string' ? Buffer.from(value) : value);
  }

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  /** It has a member. */
  finish(): readonly Buffer[] {
    return [...this.pieces, Buffer.from('}')];
  }
}
