// Streams of the stub provider: each prompt says how many chunks its answer has, and how they come.

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

const planIn = (body) => JSON.parse(JSON.parse(body).messages[0].content);

const framed = (text) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};
const event = (members) => `data: ${JSON.stringify({ ...BASE, ...members })}\n\n`;
const choice = (delta, finish) => ({ index: 0, delta, logprobs: null, finish_reason: finish });

const HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
);
const CHUNK = framed(event({ choices: [choice({ content: ` word${MARK}` }, null)], usage: null }));

function endOf(chunks) {
  const usage = { prompt_tokens: 50, completion_tokens: chunks, total_tokens: 50 + chunks };
  return Buffer.concat([
    framed(event({ choices: [choice({}, 'stop')], usage: null })),
    framed(event({ choices: [], usage })),
    framed('data: [DONE]\n\n'),
    Buffer.from('0\r\n\r\n'),
  ]);
}

/** Every chunk is a write of its own, as a provider sends them. */
export function streamTo(socket, body) {
  const { chunks, interval } = planIn(body);
  let sent = 0;
  const send = () => {
    socket.write(CHUNK);
    sent++;
  };
  socket.write(HEAD);
  send();
  if (interval === 0) sendAtOnce();
  else sendPaced();

  function sendAtOnce() {
    if (socket.destroyed) return;
    if (sent === chunks) socket.write(endOf(chunks));
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
        socket.write(endOf(chunks));
      }
    }, interval);
  }
}
