// Every operation of openapi.json of the built service, with valid, corrupted and hostile requests.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FORM_TYPE } from '../../src/http/body/form-body.js';
import * as fc from '../support/fast-check.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';
import type { FuzzAnswer } from '../support/fuzz/findings.js';
import { SENT_WORD } from '../support/fuzz/hostile-values.js';
import { messageEvents, readMessageStream } from '../support/messages/read-messages-stream.js';
import { startFuzzTarget } from '../support/fuzz/fuzz-target.js';
import type { FuzzCaller, FuzzTarget } from '../support/fuzz/fuzz-target.js';
import { encodeBody, readOperations } from '../support/fuzz/operations.js';
import type { FuzzRequest } from '../support/fuzz/operations.js';

const OPERATIONS = readOperations();
// The share of all requests; the others go to the socket.
const OPERATIONS_SHARE = 0.8;
// These operations do the most with their input.
const EMBEDDINGS = 'POST /api/v1/embeddings';
const CHAT = 'POST /api/v1/chat/completions';
const MESSAGES_PATH = '/api/v1/messages';
const MESSAGES = 'POST /api/v1/messages';
const COUNTS = `${MESSAGES}/count_tokens`;
const RESPONSES = 'POST /api/v1/responses';
const MODEL_CALLS: ReadonlyMap<string, number> = new Map([
  [EMBEDDINGS, 0.1],
  [CHAT, 0.2],
  [MESSAGES, 0.15],
  [COUNTS, 0.05],
  [RESPONSES, 0.1],
]);
const MODEL_CALLS_SHARE = [...MODEL_CALLS.values()].reduce((sum, part) => sum + part, 0);
const RUNS_BETWEEN_OBJECTS = 40;

const statuses = new Map<string, number>();
let target: FuzzTarget;
beforeAll(async () => {
  target = await startFuzzTarget(OPERATIONS.length);
});
afterAll(async () => {
  reportCounts('requests to operations', {
    operations: OPERATIONS.length,
    ...Object.fromEntries(statuses),
  });
  await target.close();
});

/** The request with the caller's objects instead of their placeholders. */
function fill(text: string, { objects }: FuzzCaller): string {
  return text.replaceAll(/own:([\w-]+)/g, (_all, name: string) => objects.get(name) ?? 'none');
}

function headersOf(request: FuzzRequest, caller: FuzzCaller): Record<string, string> {
  const authorization = {
    management: `Bearer ${caller.managementKey}`,
    inference: `Bearer ${caller.inferenceKey}`,
    nonsense: 'Bearer of bad news',
    none: '',
  }[request.credential];
  return { ...(authorization === '' ? {} : { authorization }), ...request.headers };
}

async function put(request: FuzzRequest, caller: FuzzCaller): Promise<string[]> {
  const path = fill(request.path, caller);
  const body = request.body && encodeBody({ ...request.body, text: fill(request.body.text, caller) });
  const answer = await target.send({
    method: request.method,
    path,
    headers: {
      ...(body
        ? { 'content-type': request.body?.isForm ? FORM_TYPE : 'application/json', ...body.headers }
        : {}),
      ...headersOf(request, caller),
    },
    ...(body ? { body: body.bytes } : {}),
  });
  const kind = `${Math.floor(answer.status / 100)}xx`;
  statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
  return [
    ...target.findings.problemsOf(request.method, path, answer),
    ...(request.method === 'POST' && path.startsWith('/api/v1/embeddings')
      ? wrongVectors(request, answer)
      : []),
    ...(isStream(answer) ? checkOf(path)(answer) : []),
  ];
}

const isStream = ({ headers }: FuzzAnswer): boolean =>
  String(headers['content-type']).startsWith('text/event-stream');

/** Every event in its order, and a stop with usage or an error as the last one. */
function wrongMessage({ body }: FuzzAnswer): string[] {
  try {
    const text = body.toString('utf8');
    const { isStopped, usage } = readMessageStream(text);
    const last = messageEvents(text).at(-1);
    if (last?.['type'] === 'error' ? !isStopped : isStopped && usage !== null) return [];
  } catch (error) {
    return [`a message out of order: ${String(error).slice(0, 300)}`];
  }
  return ['a message that does not end'];
}

/** Events of one line, usage or an error in the last chunk, and the mark of the end. */
function wrongStream({ body }: FuzzAnswer): string[] {
  const events = body
    .toString('utf8')
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'));
  const last = events.at(-2) ?? '';
  const isRight =
    events.at(-1) === 'data: [DONE]' &&
    events.every((event) => event.startsWith('data: ') && !event.includes('\n')) &&
    events.slice(0, -1).every((event) => event.startsWith('data: {')) &&
    /"usage":|"error":/.test(last) &&
    !/"code":500/.test(last);
  return isRight ? [] : [`a stream that ends with ${events.slice(-3).join(' ').slice(0, 300)}`];
}

function checkOf(path: string): (answer: FuzzAnswer) => string[] {
  if (path.startsWith(MESSAGES_PATH)) return wrongMessage;
  return path.startsWith('/api/v1/responses') ? wrongEvents : wrongStream;
}

/** Numbered events from the beginning to one end. */
function wrongEvents({ body }: FuzzAnswer): string[] {
  const events = body
    .toString('utf8')
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'));
  const isRight =
    /^event: response\.(?:completed|incomplete|failed)\n/.test(events.at(-1) ?? '') &&
    events.every((event, index) => {
      const [, name, data] = /^event: ([^\n]+)\ndata: ([^\n]+)$/.exec(event) ?? [];
      const { type, sequence_number: number } = JSON.parse(data ?? '{}') as Record<string, unknown>;
      return type === name && number === index && (index > 0 || name === 'response.created');
    });
  return isRight ? [] : [`events that end with ${events.slice(-3).join(' ').slice(0, 300)}`];
}

/** As many vectors as inputs, all as wide as the first, every number finite. */
function wrongVectors({ body, headers }: FuzzRequest, { status, body: bytes }: FuzzAnswer): string[] {
  if (status !== 200 || !body || body.encoding !== 'none' || 'content-type' in headers) return [];
  const asked = JSON.parse(body.text) as { input: unknown; dimensions?: number };
  const { data } = JSON.parse(bytes.toString('utf8')) as { data: { index: number; embedding: unknown }[] };
  const isOne = !Array.isArray(asked.input) || typeof asked.input[0] === 'number';
  const inputs = isOne ? 1 : (asked.input as unknown[]).length;
  const widths = data.map(({ embedding }) => {
    const text = embedding as string | number[];
    return typeof text === 'string' ? Buffer.from(text, 'base64').length / 4 : text.length;
  });
  const wanted = asked.dimensions ?? widths[0];
  const isRight =
    data.length === inputs &&
    data.every(({ index }, at) => index === at) &&
    widths.every((width) => width === wanted);
  return isRight ? [] : [`${inputs} inputs, ${data.length} vectors of ${widths.slice(0, 5).join()}`];
}

describe('an operation responds as documented to any request', () => {
  it.each(OPERATIONS)(
    '$name',
    async ({ name, requests }) => {
      const caller = await target.nextCaller();
      let runs = 0;
      const part = MODEL_CALLS.get(name) ?? (OPERATIONS_SHARE - MODEL_CALLS_SHARE) / OPERATIONS.length;
      await tryOut(
        name,
        share(part),
        fc.asyncProperty(requests, async (request) => {
          runs++;
          if (runs % RUNS_BETWEEN_OBJECTS === 0) await target.freshen(caller);
          expect(await put(request, caller)).toEqual([]);
        }),
      );
    },
    TEST_TIMEOUT,
  );
});

describe('a planted or sent secret', () => {
  it.each(['/metrics', '/api/v1/openapi.json', '/health', '/ready'])(
    'appears in no public answer: %s',
    async (path) => {
      const answer = await target.send({ method: 'GET', path, headers: {} });
      expect(answer.status).toBe(200);
      expect(target.findings.problemsOf('GET', path, answer)).toEqual([]);
      expect(answer.body.includes(SENT_WORD)).toBe(false);
    },
  );
});
