// Streams of the stub provider in three wires: each prompt says how many chunks its answer has, and how they come.

/** One byte of every chunk with content, and of nothing else: it is found whatever surrounds and cuts the chunks. */
export const MARK = '~';
const MODEL = 'gpt-4.1-mini-2025-04-14';
const BASE = {
  id: 'chatcmpl-BnW8Zk2QxP4uJ1r6YtHcV9sLd0eAg',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: MODEL,
  service_tier: 'default',
  system_fingerprint: 'fp_0f1e2d3c4b',
};

/** `interval`: milliseconds between chunks; 0: as fast as the connection takes them. */
export const promptOf = ({ chunks, interval }) => JSON.stringify({ chunks, interval });

// The prompt is a text within a text in every wire.
const PLAN = /\\"chunks\\":(\d+),\\"interval\\":(\d+)/;

function planIn(body) {
  const [, chunks, interval] = PLAN.exec(body.latin1Slice());
  return { chunks: Number(chunks), interval: Number(interval) };
}

const framed = (text) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};
const joined = (events) => Buffer.concat(events.map(framed));
const TEXT = ` word${MARK}`;
const PROMPT_TOKENS = 50;

const event = (members) => `data: ${JSON.stringify({ ...BASE, ...members })}\n\n`;
const choice = (delta, finish) => ({ index: 0, delta, logprobs: null, finish_reason: finish });
const CHAT_CHUNK = framed(event({ choices: [choice({ content: TEXT }, null)], usage: null }));

const CHAT = {
  start: () => Buffer.alloc(0),
  chunkAt: () => CHAT_CHUNK,
  endOf: (chunks) => {
    const usage = {
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: chunks,
      total_tokens: PROMPT_TOKENS + chunks,
    };
    return joined([
      event({ choices: [choice({}, 'stop')], usage: null }),
      event({ choices: [], usage }),
      'data: [DONE]\n\n',
    ]);
  },
};

const named = (members) => `event: ${members.type}\ndata: ${JSON.stringify(members)}\n\n`;
const usageOfMessage = (output_tokens) => ({
  input_tokens: PROMPT_TOKENS,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens,
});
const MESSAGE_CHUNK = framed(
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }),
);

const MESSAGES = {
  start: () =>
    joined([
      named({
        type: 'message_start',
        message: {
          id: 'msg_01BnW8Zk2QxP4uJ1r6YtHcV9',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-5-20260929',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: usageOfMessage(1),
        },
      }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ]),
  chunkAt: () => MESSAGE_CHUNK,
  endOf: (chunks) =>
    joined([
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: usageOfMessage(chunks),
      }),
      named({ type: 'message_stop' }),
    ]),
};

/** Events of a response that repeat its whole text. */
export const REPEATED_TEXTS = 4;
const ITEM = { output_index: 0, item_id: 'msg_0a1b2c3d4e5f' };
const PART = { ...ITEM, content_index: 0 };
const partOf = (text) => ({ type: 'output_text', annotations: [], logprobs: [], text });
const itemOf = (status, content) => ({
  id: ITEM.item_id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});
const responseOf = (status, output, usage) => ({
  id: 'resp_0a1b2c3d4e5f',
  object: 'response',
  created_at: BASE.created,
  status,
  error: null,
  incomplete_details: null,
  model: MODEL,
  output,
  store: false,
  usage,
});
const numbered = (from, events) =>
  joined(
    events.map(({ type, ...members }, index) => named({ type, sequence_number: from + index, ...members })),
  );
const FIRST_NUMBER = 4;

const RESPONSES = {
  start: () =>
    numbered(0, [
      { type: 'response.created', response: responseOf('in_progress', [], null) },
      { type: 'response.in_progress', response: responseOf('in_progress', [], null) },
      { type: 'response.output_item.added', output_index: 0, item: itemOf('in_progress', []) },
      { type: 'response.content_part.added', ...PART, part: partOf('') },
    ]),
  chunkAt: (index) =>
    numbered(FIRST_NUMBER + index, [
      { type: 'response.output_text.delta', ...PART, delta: TEXT, logprobs: [] },
    ]),
  endOf: (chunks) => {
    const text = TEXT.repeat(chunks);
    const item = itemOf('completed', [partOf(text)]);
    const usage = {
      input_tokens: PROMPT_TOKENS,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: chunks,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: PROMPT_TOKENS + chunks,
    };
    return numbered(FIRST_NUMBER + chunks, [
      { type: 'response.output_text.done', ...PART, text, logprobs: [] },
      { type: 'response.content_part.done', ...PART, part: partOf(text) },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: responseOf('completed', [item], usage) },
    ]);
  },
};

const WIRES = { 'chat/completions': CHAT, messages: MESSAGES, responses: RESPONSES };
const ADDRESS = new RegExp(`^POST \\S*/(${Object.keys(WIRES).join('|')}) `);

/** The wire of a request by its address; undefined: it is no chat. */
export const wireOf = (head) => WIRES[ADDRESS.exec(head)?.[1]];

const HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
);
const LAST = Buffer.from('0\r\n\r\n');

/** Every chunk is a write of its own, as a provider sends them. */
export function streamTo(socket, { start, chunkAt, endOf }, body) {
  const { chunks, interval } = planIn(body);
  let sent = 0;
  const send = () => {
    socket.write(chunkAt(sent));
    sent++;
  };
  const end = () => socket.write(Buffer.concat([endOf(chunks), LAST]));
  socket.write(Buffer.concat([HEAD, start()]));
  send();
  if (interval === 0) sendAtOnce();
  else sendPaced();

  function sendAtOnce() {
    if (socket.destroyed) return;
    if (sent === chunks) end();
    else if (socket.writableNeedDrain) socket.once('drain', sendAtOnce);
    else {
      send();
      // The other streams have their turn.
      setImmediate(sendAtOnce);
    }
  }

  function sendPaced() {
    const timer = setInterval(() => {
      if (socket.destroyed) clearInterval(timer);
      else if (sent < chunks) send();
      else {
        clearInterval(timer);
        end();
      }
    }, interval);
  }
}
