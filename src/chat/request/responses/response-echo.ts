// The members of a request that its answer repeats, as clients of the Responses wire expect them.

const NAMES = [
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'text',
  'reasoning',
  'prompt_cache_key',
  'safety_identifier',
  'user',
] as const;
/** For strict clients, which read no null there. */
const DEFAULTS: Readonly<Record<string, string>> = {
  tools: '[]',
  tool_choice: '"auto"',
  parallel_tool_calls: 'true',
};
/** Of one member. Three events repeat it: a longer one is left out. */
const MAX_BYTES = 65_536;

/** JSON text without braces. */
export function responseEcho(members: ReadonlyMap<string, Buffer>): Buffer {
  const pieces = NAMES.flatMap((name) => {
    const sent = members.get(name);
    const value = sent === undefined || sent.length > MAX_BYTES ? null : sent;
    return [Buffer.from(`"${name}":`), value ?? Buffer.from(DEFAULTS[name] ?? 'null'), Buffer.from(',')];
  });
  const fixed = '"previous_response_id":null,"store":false,"background":false,"truncation":"disabled"';
  return Buffer.concat([...pieces, Buffer.from(fixed)]);
}
