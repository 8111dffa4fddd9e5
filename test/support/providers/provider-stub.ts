// Shared by the stubs of all providers: a server on loopback, replies as values, and strict checks of members.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { listenLocally } from '../upstreams/local-server.js';
import type { LocalServer } from '../upstreams/local-server.js';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly bytes: Buffer;
}

export interface StubReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The failures that every suite wants to see, in the words of the real upstream. */
export type StubFailure = 'rateLimited' | 'overloaded' | 'broken' | 'invalid';

export interface ProviderStub {
  /** Also the name of the file. */
  readonly slug: string;
  /** The key that it accepts. */
  readonly apiKey: string;
  /** Upstream names that it knows; the first is the one that suites use. */
  readonly models: readonly [string, ...string[]];
  /** The width of the first model's vectors. */
  readonly nativeWidth: number;
  /** Inputs that one call may have; null: no limit. */
  readonly maxInputs: number | null;
  readonly failures: Readonly<Record<StubFailure, StubReply>>;
  start(): Promise<RunningProviderStub>;
}

export type ReplyAlteration = (reply: StubReply) => StubReply | null;

export interface RunningProviderStub {
  /** For `<PROVIDER>_BASE_URL`. */
  readonly baseUrl: string;
  /** Every request that came, oldest first. */
  readonly requests: readonly StubRequest[];
  /** Sets the reply to all next calls; null: back to normal. */
  replyWith(reply: StubReply | null): void;
  /** Alters the next replies; a null from it sends none, and the caller waits. Null: back to normal. */
  alterReplies(alter: ReplyAlteration | null): void;
  close(): Promise<void>;
}

export interface ProviderStubDefinition extends Omit<ProviderStub, 'start'> {
  /** The path of the base URL. */
  readonly basePath: string;
  answer(request: StubRequest): StubReply;
}

export function defineProviderStub(definition: ProviderStubDefinition): ProviderStub {
  return {
    ...definition,
    start: async () => {
      let scripted: StubReply | null = null;
      let alteration: ReplyAlteration | null = null;
      const requests: StubRequest[] = [];
      const { origin, close } = await startStubServer((request, response) => {
        requests.push(request);
        const reply = scripted ?? definition.answer(request);
        const altered = alteration ? alteration(reply) : reply;
        if (altered) sendStubReply(response, altered);
      });
      return {
        baseUrl: `${origin}${definition.basePath}`,
        requests,
        replyWith: (reply) => {
          scripted = reply;
        },
        alterReplies: (alter) => {
          alteration = alter;
        },
        close,
      };
    },
  };
}

/** A server on loopback; `answer` gets each request once its body has come. */
export async function startStubServer(
  answer: (request: StubRequest, response: ServerResponse) => void,
): Promise<LocalServer> {
  const server = createServer((incoming, response) => {
    void receive(incoming).then((request) => answer(request, response));
  });
  return listenLocally(server);
}

async function receive(incoming: IncomingMessage): Promise<StubRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: bytes.length === 0 ? {} : (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>),
    bytes,
  };
}

export function sendStubReply(response: ServerResponse, { status, body, headers }: StubReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export type MemberCheck = (value: unknown) => boolean;

export interface MemberRules {
  readonly required: Readonly<Record<string, MemberCheck>>;
  readonly optional: Readonly<Record<string, MemberCheck>>;
  /** Whether a member that is in neither list is refused or passed over. */
  readonly unknown: 'refused' | 'ignored';
}

export interface MemberProblem {
  readonly name: string;
  readonly problem: 'missing' | 'wrong' | 'unknown';
}

/** The first thing wrong with a body, or null. A member that is null is wrong unless its check says otherwise. */
export function findMemberProblem(
  body: Readonly<Record<string, unknown>>,
  { required, optional, unknown }: MemberRules,
): MemberProblem | null {
  for (const [name, check] of Object.entries({ ...required, ...optional })) {
    if (!(name in body)) {
      if (name in required) return { name, problem: 'missing' };
    } else if (!check(body[name])) return { name, problem: 'wrong' };
  }
  if (unknown === 'ignored') return null;
  const stranger = Object.keys(body).find((name) => !(name in required) && !(name in optional));
  return stranger === undefined ? null : { name: stranger, problem: 'unknown' };
}

export const isText: MemberCheck = (value) => typeof value === 'string' && value !== '';
export const isTexts: MemberCheck = (value) =>
  Array.isArray(value) && value.length > 0 && value.every(isText);
export const isFlag: MemberCheck = (value) => typeof value === 'boolean';
const isTokens: MemberCheck = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token));
export const isTextsOrTokens: MemberCheck = (value) =>
  isText(value) || isTexts(value) || isTokens(value) || (Array.isArray(value) && value.every(isTokens));
export const isOneOf =
  (...values: readonly unknown[]): MemberCheck =>
  (value) =>
    values.includes(value);
export const isWidth =
  (least: number, most: number): MemberCheck =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

export function hasBearer(request: StubRequest, apiKey: string): boolean {
  return request.headers.authorization === `Bearer ${apiKey}`;
}
