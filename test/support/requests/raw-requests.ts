// Requests that a well-behaved client cannot send.
import { connect } from 'node:net';
import type { Answer } from './error-shape.js';

/** With exactly these headers and bytes: nothing is added as a convenience. */
export async function sendExactly(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | ReadableStream<Uint8Array>;
  },
): Promise<Answer & { readonly text: string }> {
  const response = await fetch(url, { redirect: 'manual', duplex: 'half', ...options });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text, body: parse(text) };
}

/** Writes these characters to the socket and reads one HTTP answer until the server closes. */
export async function writeToSocket(origin: string, characters: string): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const received = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(characters));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const [statusLine = '', ...headerLines] = head.split('\r\n');
  const headers = headerLines.map((line) => line.split(': ') as [string, string]);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: parse(body),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
