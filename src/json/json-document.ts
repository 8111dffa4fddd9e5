// Reads objects of a JSON document into their members, which are written again as they were. A document is read in one pass.
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  JsonCursor,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-cursor.js';
import { JsonNode } from './json-node.js';
import { JsonShape } from './json-shape.js';

// Objects and lists that are opened in one document, and their members. Beyond it the document is malformed.
const MAX_NODES = 4_096;
const MAX_MEMBERS = 16_384;
// Bytes of a document that become JavaScript values, or texts of them: far above any answer, and slow.
const MAX_CONVERTED = 1_048_576;
// Nodes of a document that are kept for the next one.
const KEPT_NODES = 64;

/** Its nodes are valid until it reads again. */
export class JsonDocument extends JsonCursor {
  private readonly nodes: JsonNode[] = [];
  private used = 0;
  private members = 0;
  private converted = 0;
  private large: ReadonlyMap<number, number> | null = null;
  declare bytes: Buffer;

  /**
   * Reads bytes[from, to), one object, or a list of them, and nothing behind. Null: valid JSON of another form. `large`:
   * where long values begin and end, if they are known.
   */
  read(
    bytes: Buffer,
    from: number,
    to: number,
    shape: JsonShape,
    large: ReadonlyMap<number, number> | null = null,
  ): JsonNode | null {
    this.open(bytes, from, to);
    this.used = 0;
    this.members = 0;
    this.converted = 0;
    this.large = large;
    const node = this.node(this.peek(), shape);
    if (node === null) this.skipValue();
    this.skipSpace();
    if (this.at !== to) throw this.malformed();
    return node;
  }

  /** The text of bytes that were read. */
  convert(from: number, to: number): string {
    this.converted += to - from;
    if (this.converted > MAX_CONVERTED)
      throw this.malformed(`has more than ${MAX_CONVERTED} bytes of names and values to convert`);
    return this.bytes.toString('utf8', from, to);
  }

  /** Releases the bytes. */
  release(): void {
    this.close();
    this.large = null;
    if (this.nodes.length > KEPT_NODES) this.nodes.length = KEPT_NODES;
  }

  private node(first: number, shape: JsonShape): JsonNode | null {
    if (first === OPEN_OBJECT) return this.object(shape);
    return first === OPEN_ARRAY ? this.list(shape) : null;
  }

  private next(isList: boolean): JsonNode {
    if (this.used === MAX_NODES) throw this.malformed(`has more than ${MAX_NODES} objects`);
    const node = this.nodes[this.used] ?? new JsonNode(this);
    this.nodes[this.used++] = node;
    node.reset(isList, this.at);
    return node;
  }

  private object(shape: JsonShape): JsonNode {
    const node = this.next(false);
    this.at++;
    if (!this.accept(CLOSE_OBJECT)) {
      do {
        this.countMember();
        this.peek();
        const start = this.at;
        this.skipString();
        const known = shape.find(this.bytes, start + 1, this.at - 1);
        this.expect(COLON);
        const first = this.peek();
        const from = this.at;
        const child = known?.inside ? this.node(first, known.inside) : null;
        if (child === null) this.skip(first);
        node.push(known === null ? null : known.name, start, from, this.at, child);
      } while (this.accept(COMMA));
      this.expect(CLOSE_OBJECT);
    }
    node.to = this.at;
    return node;
  }

  private list(shape: JsonShape): JsonNode {
    const node = this.next(true);
    this.at++;
    if (!this.accept(CLOSE_ARRAY)) {
      do {
        this.countMember();
        const first = this.peek();
        const from = this.at;
        const child = first === OPEN_OBJECT ? this.object(shape) : null;
        if (child === null) this.skip(first);
        node.push(null, from, from, this.at, child);
      } while (this.accept(COMMA));
      this.expect(CLOSE_ARRAY);
    }
    node.to = this.at;
    return node;
  }

  private countMember(): void {
    if (this.members++ === MAX_MEMBERS) throw this.malformed(`has more than ${MAX_MEMBERS} members`);
  }

  private skip(first: number): void {
    const end = this.large === null ? undefined : this.large.get(this.at);
    if (end !== undefined) this.at = end;
    else if (first === QUOTE) this.skipString();
    else if (first === OPEN_OBJECT || first === OPEN_ARRAY) this.skipValue();
    else this.skipScalar(first);
  }
}

class NotJson extends Error {}
const SYNTAX = new JsonDocument(NotJson);
const CLOSED = new JsonShape([]);

export function isJson(bytes: Buffer, from: number, to: number): boolean {
  try {
    SYNTAX.read(bytes, from, to, CLOSED);
    return true;
  } catch (error) {
    if (error instanceof NotJson) return false;
    throw error;
  } finally {
    SYNTAX.release();
  }
}
