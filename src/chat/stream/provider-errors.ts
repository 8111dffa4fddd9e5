// Errors that a provider states inside a success.
import type { ChatWire } from '../../providers/shared/chat-wire.js';
import type { ProviderError } from '../../providers/shared/provider.js';

const ENDED_WITH_ERROR = 'the provider ended the answer with an error';

/** `document` is a valid JSON text unless the event itself is marked as an error. */
export function statedError(document: Buffer, wire: Pick<ChatWire, 'readError'>): ProviderError {
  const body = Buffer.from(JSON.stringify(choiceError(document)) ?? document);
  const error = wire.readError({ status: 200, headers: {}, body });
  return error.message === '' ? { ...error, message: ENDED_WITH_ERROR } : error;
}

/** An error of a choice in the form of one of the whole answer; undefined: the document has one of its own, or none. */
function choiceError(document: Buffer): object | undefined {
  let members: unknown;
  try {
    members = JSON.parse(document.toString());
  } catch {
    return undefined;
  }
  const { error, choices } = Object(members) as Readonly<Record<string, unknown>>;
  if (error || !Array.isArray(choices)) return undefined;
  const failed = choices.find((choice: unknown) => hasError(choice)) as
    { readonly error: unknown } | undefined;
  return { error: failed?.error ?? { message: ENDED_WITH_ERROR } };
}

function hasError(choice: unknown): boolean {
  return Boolean((Object(choice) as Readonly<Record<string, unknown>>)['error']);
}
