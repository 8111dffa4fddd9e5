// Shared by the fakes of all destination platforms: a server on loopback with the platform's checks, which keeps the
// generations that it accepted, and fails as a test scripts it.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { DestinationConfig } from '../../../src/domain/destinations/destination.js';
import { listenLocally } from '../upstreams/local-server.js';

export interface ReceivedDelivery {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came, decompressed. */
  readonly bytes: Buffer;
}

export interface ReceiverReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

/** A platform's reaction to a request: its answer, and the ids of the stored generations, one entry a row. */
export interface ReceiverResult {
  readonly reply: ReceiverReply;
  readonly stored: readonly string[];
}

export interface DestinationReceiver {
  /** The kind's platform token; also the name of the file. */
  readonly type: string;
  /** A config of the kind whose requests go to the platform's own addresses. */
  readonly config: DestinationConfig;
  /** Where the requests of `config` are meant to go. */
  readonly expectedOrigin: string;
  /** The config with its address replaced, where the kind has one that can be; null: its addresses are fixed. */
  configFor(origin: string): DestinationConfig | null;
  /** Checks method, path, credentials, headers, schema, limits and ids as the real platform does. */
  check(request: ReceivedDelivery): ReceiverResult | Promise<ReceiverResult>;
  /** How the platform says no, in its own words. */
  readonly failures: Readonly<Record<'unauthorized' | 'rateLimited' | 'unavailable', ReceiverReply>>;
  /** A 2xx that says that some traces were dropped; null where the platform has none. */
  readonly partial: ReceiverReply | null;
}

export type Script = ReceiverReply | 'hang' | 'reset' | 'truncate' | 'flood';

export interface RunningReceiver {
  readonly origin: string;
  readonly requests: readonly ReceivedDelivery[];
  /** Ids of generations in the order in which they were stored; repeats stay visible. */
  readonly stored: readonly string[];
  /** Sets the reactions to the next requests, one entry each; then it checks again. */
  script(...next: readonly Script[]): void;
  /** Sets the reaction to every request, until null. */
  always(script: Script | null): void;
  /** For long runs whose requests are not examined: stored generations stay. */
  forgetRequests(): void;
  /** Requests whose sender closed the connection before it had an answer. */
  readonly abandoned: number;
  /** As if just started: nothing seen, stored or scripted. */
  forget(): void;
  close(): Promise<void>;
}

export async function startReceiver(receiver: Pick<DestinationReceiver, 'check'>): Promise<RunningReceiver> {
  const requests: ReceivedDelivery[] = [];
  const stored: string[] = [];
  const queue: Script[] = [];
  let constant: Script | null = null;
  let abandoned = 0;
  const server = createServer((incoming, response) => {
    response.once('close', () => {
      if (!response.writableEnded) abandoned++;
    });
    void (async () => {
      const request = await receive(incoming);
      requests.push(request);
      const script = queue.shift() ?? constant;
      if (script !== null) return misbehave(script, response);
      const result = await receiver.check(request);
      stored.push(...result.stored);
      reply(response, result.reply);
    })().catch((error: unknown) =>
      reply(response, { status: 500, body: `the receiver failed: ${String(error)}` }),
    );
  });
  const local = await listenLocally(server);
  return {
    ...local,
    requests,
    stored,
    get abandoned() {
      return abandoned;
    },
    script: (...next) => void queue.push(...next),
    always: (script) => {
      constant = script;
    },
    forgetRequests: () => {
      requests.length = 0;
    },
    forget: () => {
      requests.length = stored.length = queue.length = 0;
      constant = null;
      abandoned = 0;
    },
  };
}

function misbehave(script: Script, response: ServerResponse): void {
  switch (script) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'truncate':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"part');
      response.socket?.end();
      return;
    case 'flood':
      response.writeHead(200, { 'content-type': 'application/json' });
      flood(response);
      return;
    default:
      reply(response, script);
  }
}

/** Writes for as long as the client reads. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, 0x20);
  while (!response.destroyed) {
    if (!response.write(chunk)) {
      response.once('drain', () => flood(response));
      return;
    }
  }
}

function reply(response: ServerResponse, { status, headers = {}, body = '' }: ReceiverReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function receive(incoming: IncomingMessage): Promise<ReceivedDelivery> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const sent = Buffer.concat(chunks);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    bytes: incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent,
  };
}
