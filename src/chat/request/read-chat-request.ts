// From the bytes of a body to a checked chat call (docs/contract.md#chat-request). Values are checked once; members that
// go upstream keep their own bytes.
import type { ChatRequest, ChatTool, JsonValue } from '../../domain/chat/chat-request.js';
import { AppError } from '../../domain/errors.js';
import type { CallerTrace } from '../../domain/caller-trace.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import { parsePlainBody } from '../../http/body/plain-body.js';
import { fromProviderPreferencesDto } from '../../http/dto/provider-preferences.dto.js';
import { readMessages } from '../dto/chat-messages.js';
import { readReasoning } from '../dto/chat-reasoning.js';
import { readResponseFormat, readToolChoice, readTools } from '../dto/chat-tools.js';
import { CreateChatCompletionDto, isModelName, KNOWN_MEMBERS } from '../dto/create-chat-completion.dto.js';
import { REFUSED_NAMES, rejectRefusedMembers } from '../dto/refused-members.js';
import { checkedMembers, filledDto } from './checked-body.js';
import { namesByFold } from './raw-members.js';
import { replaceLoneSurrogates } from './well-formed-bytes.js';

export interface ReadChat {
  readonly request: ChatRequest;
  readonly preferences: ProviderPreferences;
}

const KNOWN = namesByFold([...KNOWN_MEMBERS, ...REFUSED_NAMES]);
/** The router reads them; providers' wires write their own form of some. */
const NOT_FORWARDED = [
  'model',
  'models',
  'route',
  'provider',
  'usage',
  'stream',
  'stream_options',
  'session_id',
  'trace',
  'metadata',
  'plugins',
  'transforms',
  'store',
  'background',
  'structured_outputs',
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'max_tokens',
  'max_completion_tokens',
];
const HIDDEN_WITHOUT_TOOLS = ['tools', 'tool_choice', 'parallel_tool_calls'];

/** `bytes` are those of `sent`. Throws `invalid_request`. */
export function readChatRequest(sent: Readonly<Record<string, unknown>>, bytes: Buffer): ReadChat {
  const body = replaceLoneSurrogates(bytes) ? (parsePlainBody(bytes) as typeof sent) : sent;
  const members = checkedMembers(body, bytes, KNOWN);
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  rejectRefusedMembers(given);
  const dto = validated(given);
  const tools = readTools(dto.tools);
  const toolChoice = readToolChoice(dto.tool_choice, tools);
  const request: ChatRequest = {
    native: null,
    models: modelsOf(dto),
    isStreamed: dto.stream ?? false,
    includesUsageChunk: dto.stream_options?.include_usage ?? false,
    messages: readMessages(dto.messages),
    tools,
    toolChoice,
    ...readResponseFormat(dto.response_format),
    maxOutputTokens: smallest(dto.max_tokens, dto.max_completion_tokens),
    choiceCount: dto.n ?? 1,
    wantsLogprobs: dto.logprobs ?? false,
    topLogprobs: dto.top_logprobs ?? 0,
    reasoning: readReasoning(dto),
    serviceTier: tierOf(dto.service_tier),
    prediction: predictionText(dto.prediction),
    cacheWriteTtl: cacheTtlOf(dto),
    wantsEnforcedSchema: dto.structured_outputs ?? false,
    user: dto.user ?? null,
    sessionId: dto.session_id ?? null,
    trace: traceOf(dto),
    metadata: dto.metadata ?? null,
    promptCacheKey: dto.prompt_cache_key ?? null,
    members: forwarded(members, dto, tools),
  };
  return { request, preferences: fromProviderPreferencesDto(dto.provider) };
}

function validated(body: Readonly<Record<string, unknown>>): CreateChatCompletionDto {
  const dto = filledDto(new CreateChatCompletionDto(), KNOWN_MEMBERS, body);
  if (dto.modalities?.some((modality) => modality !== 'text'))
    throw new AppError('invalid_request', { detail: 'modalities: answers are text' });
  if (dto.top_logprobs !== undefined && dto.logprobs !== true)
    throw new AppError('invalid_request', { detail: 'top_logprobs: needs logprobs: true' });
  return dto;
}

function modelsOf({ model, models = [] }: CreateChatCompletionDto): string[] {
  const wrong = models.findIndex((name) => !isModelName(name));
  if (wrong !== -1)
    throw new AppError('invalid_request', { detail: `models[${wrong}]: must have the form vendor/model` });
  const names = [...new Set([...(model === undefined ? [] : [model]), ...models])];
  if (names.length === 0) throw new AppError('invalid_request', { detail: 'model: is required' });
  return names;
}

function smallest(one: number | undefined, other: number | undefined): number | null {
  const limits = [one, other].filter((limit) => limit !== undefined);
  return limits.length === 0 ? null : Math.min(...limits);
}

export function tierOf(tier: string | undefined): string | null {
  return tier === 'fast' ? 'priority' : (tier ?? null);
}

function predictionText(prediction: CreateChatCompletionDto['prediction']): string | null {
  if (prediction === undefined) return null;
  const { content } = prediction;
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

/** The longest life of a cache entry that the call may write: its price is the highest. */
function cacheTtlOf(dto: CreateChatCompletionDto): '5m' | '1h' | null {
  const { cache_control: control, prompt_cache_retention: retention, messages } = dto;
  const retentions = retention === undefined ? [] : [retention === '1h' || retention === '24h' ? '1h' : '5m'];
  const controls = [...(control ? [control] : []), ...controlsIn(messages), ...controlsIn(dto.tools)];
  const lives = [...retentions, ...controls.map(({ ttl }) => (ttl === '1h' ? '1h' : '5m'))];
  if (lives.length === 0) return null;
  return lives.includes('1h') ? '1h' : '5m';
}

/** Messages have them in their parts, tools beside their function. */
function controlsIn(value: unknown): { readonly ttl?: unknown }[] {
  const found: { readonly ttl?: unknown }[] = [];
  const visit = (node: unknown, depth: number): void => {
    if (typeof node !== 'object' || node === null || depth > 3) return;
    if (Array.isArray(node)) {
      for (const item of node) visit(item, depth);
      return;
    }
    const { cache_control: control, content, function: called } = node as Readonly<Record<string, unknown>>;
    if (typeof control === 'object' && control !== null) found.push(control);
    visit(content, depth + 1);
    visit(called, depth + 1);
  };
  visit(value, 0);
  return found;
}

/** The metadata of the wire is part of the trace, whose own member of that name wins. */
function traceOf({ trace, metadata }: CreateChatCompletionDto): CallerTrace | null {
  return metadata === undefined ? (trace ?? null) : { metadata, ...trace };
}

function forwarded(
  members: Map<string, Buffer>,
  { n, service_tier: tier, tool_choice: choice, tools: sent }: CreateChatCompletionDto,
  tools: readonly ChatTool[],
): Map<string, Buffer> {
  const hasTools = tools.length > 0;
  for (const name of NOT_FORWARDED) members.delete(name);
  // `parallel_tool_calls` alone is an error at some providers.
  if (!hasTools) for (const name of HIDDEN_WITHOUT_TOOLS) members.delete(name);
  // Tools whose form was another.
  if (tools.some(({ body }, index) => body !== (sent as readonly unknown[])[index]))
    members.set('tools', jsonOf(tools.map(({ body }) => body)));
  if (n === 1) members.delete('n');
  if (tier === 'fast') members.set('service_tier', jsonOf('priority'));
  if (choice === 'any' && hasTools) members.set('tool_choice', jsonOf('required'));
  return members;
}

function jsonOf(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value));
}
