// The APIs that a call went through, and the members that an endpoint did not get, in words.
import type { Generation } from '../../api/generations';

const APIS: Readonly<Record<string, string>> = {
  embeddings: 'Embeddings',
  rerank: 'Rerank',
  completions: 'Chat Completions',
  chat: 'Chat Completions',
  messages: 'Messages',
  responses: 'Responses',
  gemini: 'Gemini',
  converse: 'Converse',
};

export const nameOfApi = (api: string): string => APIS[api] ?? api;

/** The API of the provider, and whether the bytes of the client's passed. Null: no provider has answered. */
export function providerApiOf({ api_type: client, provider_wire: provider }: Generation): string | null {
  if (provider === null) return null;
  const name = nameOfApi(provider);
  return client !== null && nameOfApi(client) === name ? `${name}, not translated` : `${name}, translated`;
}

/** Thoughts of earlier turns that the provider could not read. */
const THOUGHTS: ReadonlySet<string> = new Set([
  'messages.content.thinking',
  'messages.reasoning_details',
  'input.reasoning',
]);

/** Null: the endpoint got all. */
export function editsInWords(edits: readonly string[] = []): string | null {
  const members = edits.filter((edit) => !THOUGHTS.has(edit));
  const left = [
    ...(members.length < edits.length ? ['thinking of earlier turns, which it cannot read'] : []),
    ...members.map((name) => (name === 'reasoning' ? 'a part of the reasoning settings' : name)),
  ];
  return left.length === 0 ? null : `It did not get ${left.join(', ')}.`;
}

const ENDS: Readonly<Record<string, string>> = {
  stop: 'The end of the answer',
  length: 'The limit of tokens',
  tool_calls: 'Calls of tools',
  content_filter: 'A content filter',
  error: 'A failure',
};

/** With the provider's own word, where it differs. */
export function endInWords(reason: string, native: string | null): string {
  const words = ENDS[reason] ?? reason;
  return native === null || native === reason ? words : `${words} (${native})`;
}
