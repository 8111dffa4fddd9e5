// Checks of a chat body that stubs share. Each returns the name of the first member that the vendor refuses.
type Body = Readonly<Record<string, unknown>>;

/** Members of OpenAI's own body. */
export const OPENAI_MEMBERS = (
  'model messages stream stream_options max_completion_tokens max_tokens temperature top_p stop seed n logprobs top_logprobs ' +
  'logit_bias frequency_penalty presence_penalty tools tool_choice parallel_tool_calls response_format reasoning_effort ' +
  'verbosity prediction user service_tier prompt_cache_key prompt_cache_retention'
).split(' ');

export function unknownMember(body: Body, known: readonly string[]): string | null {
  return Object.keys(body).find((name) => !known.includes(name)) ?? null;
}

export function messagesOf(body: Body): Body[] {
  return Array.isArray(body['messages']) ? (body['messages'] as Body[]) : [];
}

/** `messages[0].name` */
export function unknownMessageMember(body: Body, known: readonly string[]): string | null {
  for (const [index, message] of messagesOf(body).entries()) {
    const name = unknownMember(message, known);
    if (name !== null) return `messages[${index}].${name}`;
  }
  return null;
}

export function toolIdsOf(body: Body): string[] {
  const ids: string[] = [];
  for (const { tool_calls: calls, tool_call_id: answered } of messagesOf(body)) {
    if (Array.isArray(calls)) for (const { id } of calls as { id: string }[]) ids.push(id);
    if (typeof answered === 'string') ids.push(answered);
  }
  return ids;
}

/** `messages[0].name`, `tools[0].function.description`: what callers send as absent, and vendors take for a wrong value. */
export function emptyMember(body: Body): string | null {
  for (const [index, message] of messagesOf(body).entries()) {
    const { tool_calls: calls } = message;
    const callsNothing = Array.isArray(calls) && calls.length === 0;
    const name = callsNothing ? 'tool_calls' : nullMember(message, ['content', 'refusal']);
    if (name !== null) return `messages[${index}].${name}`;
  }
  for (const [index, described] of functionsOf(body).entries()) {
    const name = nullMember(described, ['strict']);
    if (name !== null) return `tools[${index}].function.${name}`;
  }
  return null;
}

const TOOL_MEMBERS = ['type', 'function'];
const FUNCTION_MEMBERS = ['name', 'description', 'parameters', 'strict'];
const CALLED_MEMBERS = ['name', 'arguments'];

/** `tools[0].function.cache_control`, `messages[0].tool_calls[0].function.parsed_arguments` */
export function unknownToolMember(body: Body): string | null {
  const unknown = (owner: unknown, known: readonly string[], path: string): string | null => {
    const name = unknownMember(Object(owner) as Body, known);
    return name === null ? null : `${path}.${name}`;
  };
  for (const [index, tool] of listOf(body['tools']).entries()) {
    const path = `tools[${index}]`;
    const name =
      unknown(tool, TOOL_MEMBERS, path) ?? unknown(tool['function'], FUNCTION_MEMBERS, `${path}.function`);
    if (name !== null) return name;
  }
  for (const [at, { tool_calls: calls }] of messagesOf(body).entries())
    for (const [index, call] of listOf(calls).entries()) {
      const path = `messages[${at}].tool_calls[${index}].function`;
      const name = unknown(call['function'], CALLED_MEMBERS, path);
      if (name !== null) return name;
    }
  return null;
}

function listOf(value: unknown): Body[] {
  return Array.isArray(value) ? (value as Body[]) : [];
}

export function lacksParameters(body: Body): boolean {
  return functionsOf(body).some((described) => described['parameters'] === undefined);
}

function nullMember(members: Body, allowed: readonly string[]): string | null {
  return Object.keys(members).find((name) => members[name] === null && !allowed.includes(name)) ?? null;
}

function functionsOf({ tools }: Body): Body[] {
  return Array.isArray(tools) ? (tools as { function: Body }[]).map((tool) => tool.function) : [];
}

export function hasStrictTool({ tools }: Body): boolean {
  return (
    Array.isArray(tools) && tools.some((tool: { function?: object }) => 'strict' in (tool.function ?? {}))
  );
}

/** Whether a body that does not stream has options of streams. */
export function hasIdleStreamOptions(body: Body): boolean {
  return body['stream'] !== true && body['stream_options'] !== undefined;
}
