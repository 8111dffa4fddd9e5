// The settings of a chat request as its record keeps them: numbers, flags and known words, never text of the caller.
import type { ChatRequest, JsonObject, JsonValue } from './chat-request.js';

const SETTINGS = [
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'n',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
  'verbosity',
] as const;

/** Null: the request has none. */
export function chatParameters(request: ChatRequest): JsonObject | null {
  const { maxOutputTokens, reasoning, toolChoice, tools, responseFormat, serviceTier } = request;
  const parameters: Record<string, JsonValue> = {};
  const add = (name: string, value: JsonValue | undefined): void => {
    if (value !== null && value !== undefined) parameters[name] = value;
  };
  for (const name of SETTINGS) add(name, settingOf(request, name));
  add('max_tokens', maxOutputTokens);
  add('reasoning_effort', reasoning?.effort);
  add('reasoning_max_tokens', reasoning?.maxTokens);
  if (toolChoice !== null) add('tool_choice', 'mode' in toolChoice ? toolChoice.mode : 'function');
  if (tools.length > 0) add('tool_count', tools.length);
  if (responseFormat !== 'text') add('response_format', responseFormat);
  add('service_tier', serviceTier);
  return Object.keys(parameters).length === 0 ? null : parameters;
}

function settingOf({ members }: ChatRequest, name: string): JsonValue | undefined {
  const json = members.get(name)?.toString();
  if (json === undefined) return undefined;
  const value = JSON.parse(json) as JsonValue;
  // A seed may have 64 bits: its digits are kept as a text.
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
  const setting = isExact ? value : json;
  return isPlainSetting(setting) ? setting : undefined;
}

/** Whether a value of the parameters says nothing in the caller's own words. */
export function isPlainSetting(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'boolean') return true;
  return typeof value === 'string' && /^(?:[a-z][a-z0-9_]{0,31}|-?\d{1,40})$/.test(value);
}
