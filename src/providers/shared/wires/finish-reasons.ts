// The providers' words for the end of an answer as the wire's own (docs/contract.md#chat-streams).

const COMMON: Readonly<Record<string, string>> = {
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  model_length: 'length',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  function_call: 'tool_calls',
  tool_use: 'tool_calls',
  pause_turn: 'stop',
  refusal: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  moderation: 'content_filter',
  prohibited_content: 'content_filter',
  blocklist: 'content_filter',
  spii: 'content_filter',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
  function_call_filter: 'error',
  malformed_function_call: 'error',
  unexpected_tool_call: 'error',
  malformed_tool_use: 'error',
  malformed_model_output: 'error',
};
/** Google adds its own word: `content_filter: PROHIBITED_CONTENT`. */
const COMPOUND = /^(content_filter|function_call_filter)\s*:/;
const KNOWN: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'error']);

/** An unknown word stays. Some providers write `stop` after tool calls. */
export function finishReasonOf(
  word: string,
  own: Readonly<Record<string, string>> | undefined,
  hasToolCalls: boolean,
): string {
  const reason = mapped(word, own);
  return reason === 'stop' && hasToolCalls ? 'tool_calls' : reason;
}

/** The provider failed. An answer that the model broke off, such as a malformed call, is complete, and its provider bills it. */
export function isFailure(word: string): boolean {
  return word.toLowerCase() === 'error';
}

function mapped(word: string, own: Readonly<Record<string, string>> = {}): string {
  const spelled = word.toLowerCase();
  const lower = COMPOUND.exec(spelled)?.[1] ?? spelled;
  if (Object.hasOwn(own, word)) return own[word] ?? word;
  if (Object.hasOwn(own, lower)) return own[lower] ?? word;
  if (Object.hasOwn(COMMON, lower)) return COMMON[lower] ?? word;
  return KNOWN.has(lower) ? lower : word;
}
