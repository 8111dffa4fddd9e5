// Requests whose bodies are put together in pieces, so that the caller's bytes are neither parsed nor copied.
import { recordedEdits } from '../../domain/generations/edits.js';
import type { ChatUpstreamRequest } from './chat-wire.js';
import type { UpstreamRequest } from './upstream.js';
import { JSON_TYPE, postTo } from './wire.js';

type Headers = Readonly<Record<string, string>>;

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

  finish(): readonly Buffer[] {
    return [...this.pieces, Buffer.from('}')];
  }
}

export function assembledRequest(
  url: string,
  headers: Headers,
  body: BodyAssembly,
  isStreamed: boolean,
): ChatUpstreamRequest {
  const head = postTo(url, headers, isStreamed ? 'text/event-stream' : JSON_TYPE);
  return { ...head, body: body.finish(), edits: recordedEdits(body.edits) };
}

/** For clouds whose authorization covers the body. */
export async function authorizedRequest(
  url: string,
  headers: Headers,
  body: BodyAssembly,
  authorize: (request: UpstreamRequest) => UpstreamRequest | Promise<UpstreamRequest>,
): Promise<ChatUpstreamRequest> {
  const text = Buffer.concat(body.finish()).toString();
  const authorized = await authorize({ ...postTo(url, headers), body: text });
  return { ...authorized, body: [Buffer.from(authorized.body)], edits: recordedEdits(body.edits) };
}
