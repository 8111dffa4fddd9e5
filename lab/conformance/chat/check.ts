// One column of the chat table, and a gateway whose chat is checked.
import type { Readable } from 'node:stream';
import { request } from 'undici';
import type { RunningChatStub } from '../../../test/support/chat-providers/chat-stub.js';
import type { ChatWireName } from '../../../test/support/chat-providers/every-chat-provider.js';
import type { Members } from '../../../test/support/providers/conformance-row.js';
import type { Problem } from '../assert-answer.js';
import type { Answer } from '../gateway.js';
import type { Column } from '../run-checks.js';

export interface ChatCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Members;
}

export interface ChatGateway {
  readonly name: string;
  /** The heads of checks about features that it does not offer. */
  readonly notOffered: ReadonlySet<string>;
  readonly remarks: readonly string[];
  callOf(wire: ChatWireName, body: Members): ChatCall;
}

export interface ChatTrial {
  readonly wire: ChatWireName;
  readonly stub: RunningChatStub;
  readonly ask: (body: Members) => Promise<Answer>;
  /** Reads until a text has come, and closes the connection. */
  readonly leaveAfter: (body: Members, text: string) => Promise<void>;
}

export interface ChatCheck extends Column {
  readonly applies?: (wire: ChatWireName) => boolean;
  run(trial: ChatTrial): Promise<Problem>;
}

export async function leaveAfter({ url, headers, body }: ChatCall, text: string): Promise<void> {
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  let read = '';
  for await (const bytes of response.body as Readable) {
    read += String(bytes);
    // Leaving the loop destroys the body, and with it the connection.
    if (read.includes(text)) return;
  }
  throw new Error(`the stream ended without ${text}`);
}
