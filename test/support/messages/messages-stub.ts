// Anthropic's API on loopback: refuses what the vendor refuses, and streams what a test scripts. Source: Anthropic's reference of the
// Messages API, and errors as users quote them.
import type { ServerResponse } from 'node:http';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../upstreams/stub-upstream.js';

type Members = Readonly<Record<string, unknown>>;
export type StubAnswer = (request: ReceivedRequest, response: ServerResponse) => void;

const KNOWN = new Set(
  (
    'model messages max_tokens system tools tool_choice thinking output_config stop_sequences temperature top_p top_k stream ' +
    'metadata cache_control service_tier speed inference_geo context_management diagnostics'
  ).split(' '),
);
/** The last one in the middle of a conversation: Claude Code sends it. */
const ROLES = new Set(['user', 'assistant', 'system']);
export const STUB_KEY = 'sk-ant-key-of-the-stub';
/** Of customers. */
export const OWN_KEYS = ['sk-ant-own-key-one', 'sk-ant-own-key-two'] as const;
const ACCEPTED: ReadonlySet<unknown> = new Set([STUB_KEY, ...OWN_KEYS]);

export interface MessagesStub extends StubUpstream {
  /** Null: the usual answer. */
  answerWith(answer: StubAnswer | null): void;
}

export async function startMessagesStub(): Promise<MessagesStub> {
  let scripted: StubAnswer | null = null;
  const stub = await startStubUpstream((request, response) => {
    if (!ACCEPTED.has(request.headers['x-api-key']))
      return sendError(response, 401, 'authentication_error', 'invalid x-api-key');
    const problem = problemOf(request.body);
    if (problem !== null) return sendError(response, 400, 'invalid_request_error', problem);
    if (request.path.startsWith('/v1/messages/count_tokens'))
      return sendJson(response, 200, { input_tokens: 77 });
    return (scripted ?? answerHello)(request, response);
  });
  return Object.assign(stub, {
    answerWith: (answer: StubAnswer | null): void => {
      scripted = answer;
    },
  });
}

export function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { type: 'error', error: { type, message } });
}

/** The reason for a 400 of the vendor; null: none. */
function problemOf(body: Members): string | null {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  for (const [index, message] of (body['messages'] as Members[]).entries()) {
    if (!ROLES.has(String(message['role'])))
      return `messages.${index}.role: Input should be 'user', 'assistant' or 'system'`;
    const blocks = Array.isArray(message['content']) ? (message['content'] as Members[]) : [];
    for (const [at, block] of blocks.entries()) {
      const path = `messages.${index}.content.${at}`;
      if (block['type'] === 'text' && block['text'] === '')
        return `${path}: text content blocks must be non-empty`;
      const { signature = '' } = block as { signature?: string };
      if (block['type'] === 'thinking' && !signature.startsWith('sig-'))
        return `${path}: Invalid \`signature\` in \`thinking\` block`;
      if (block['type'] === 'tool_result' && at > 0 && blocks[at - 1]?.['type'] !== 'tool_result')
        return `${path}: tool_result blocks must come first`;
    }
  }
  return null;
}

/** An event of the wire. */
export function messagesEvent(data: Members): string {
  return `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const USAGE_AT_START = {
  input_tokens: 2_000,
  cache_read_input_tokens: 80_000,
  cache_creation_input_tokens: 5_000,
  cache_creation: { ephemeral_5m_input_tokens: 5_000, ephemeral_1h_input_tokens: 0 },
  output_tokens: 4,
  service_tier: 'standard',
};

export const messageStart = (usage: Members = USAGE_AT_START): Members => ({
  type: 'message_start',
  message: {
    id: 'msg_01Stub',
    type: 'message',
    role: 'assistant',
    model: 'claude-stub-20261001',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
});
export const blockStart = (index: number, block: Members): Members => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
export const blockDelta = (index: number, delta: Members): Members => ({
  type: 'content_block_delta',
  index,
  delta,
});
export const blockStop = (index: number): Members => ({ type: 'content_block_stop', index });
export const messageDelta = (stopReason: string, usage: Members, more: Members = {}): Members => ({
  type: 'message_delta',
  delta: { stop_reason: stopReason, stop_sequence: null, ...more },
  usage,
});
export const MESSAGE_STOP = { type: 'message_stop' };

export function textBlock(index: number, ...texts: readonly string[]): Members[] {
  return [
    blockStart(index, { type: 'text', text: '' }),
    ...texts.map((text) => blockDelta(index, { type: 'text_delta', text })),
    blockStop(index),
  ];
}

/** Text, a thought with its signature, and a call. */
export const RICH_EVENTS: readonly Members[] = [
  messageStart(),
  blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
  blockDelta(0, { type: 'thinking_delta', thinking: 'Let me ' }),
  blockDelta(0, { type: 'thinking_delta', thinking: 'see.' }),
  blockDelta(0, { type: 'signature_delta', signature: 'sig-of-the-thought' }),
  blockStop(0),
  { type: 'ping' },
  ...textBlock(1, 'Hel', 'lo'),
  blockStart(2, { type: 'tool_use', id: 'toolu_01', name: 'look_up', input: {} }),
  blockDelta(2, { type: 'input_json_delta', partial_json: '{"id": 1234567890' }),
  blockDelta(2, { type: 'input_json_delta', partial_json: '1234567890}' }),
  blockStop(2),
  messageDelta('tool_use', { output_tokens: 1_000 }),
  MESSAGE_STOP,
];

export const streamMessages =
  (events: readonly Members[]): StubAnswer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_stub' });
    response.end(events.map(messagesEvent).join(''));
  };

/** Three words of an answer whose end never comes. `prompt`: its tokens. */
export const countWithoutEnd =
  (prompt: number, begun = (): void => undefined): StubAnswer =>
  (_request, response) => {
    const words = textBlock(0, 'One ', 'two ', 'three ').slice(0, -1);
    const events = [messageStart({ input_tokens: prompt, output_tokens: 1 }), ...words];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.map(messagesEvent).join(''));
    begun();
  };

export const WHOLE_MESSAGE = {
  id: 'msg_01Stub',
  type: 'message',
  role: 'assistant',
  model: 'claude-stub-20261001',
  content: [
    { type: 'thinking', thinking: 'Let me see.', signature: 'sig-of-the-thought' },
    { type: 'text', text: 'Hello' },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { ...USAGE_AT_START, output_tokens: 1_000 },
};

function answerHello(request: ReceivedRequest, response: ServerResponse): void {
  if (request.body['stream'] === true) streamMessages(RICH_EVENTS)(request, response);
  else sendJson(response, 200, WHOLE_MESSAGE);
}
