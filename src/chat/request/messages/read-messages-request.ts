// From the bytes of a body in the Messages wire to a checked call in the kernel's form (docs/contract.md#messages). Endpoints of the
// same wire get the client's bytes.
import type { CallerTrace } from '../../../domain/caller-trace.js';
import type { ChatRequest, ReasoningSettings } from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isObject } from '../../../domain/members.js';
import { boundedText } from '../../../domain/text/bounded-text.js';
import { parsePlainBody } from '../../../http/body/plain-body.js';
import { fromProviderPreferencesDto } from '../../../http/dto/provider-preferences.dto.js';
import { isModelName, MAX_USER_LENGTH } from '../../dto/create-chat-completion.dto.js';
import { CreateMessageDto, MESSAGE_MEMBERS } from '../../dto/create-message.dto.js';
import { rejectRefusedMembers } from '../../dto/refused-members.js';
import { checkedMembers, filledDto } from '../checked-body.js';
import { namesByFold } from '../raw-members.js';
import type { ReadChat } from '../read-chat-request.js';
import { replaceLoneSurrogates } from '../well-formed-bytes.js';
import { RawInputs } from './raw-inputs.js';
import { readMessageTools } from './read-message-tools.js';
import type { ReadTools } from './read-message-tools.js';
import { THINKING } from '../../../providers/shared/turns/earlier-thoughts.js';
import { readSystem, readTurns } from './read-turns.js';
import { REFUSED_MESSAGE_MEMBERS } from './refused-message-members.js';
import { sentHeaders, traceOfAgent } from './message-headers.js';
import type { WireHeaders } from './message-headers.js';

const KNOWN = namesByFold([...MESSAGE_MEMBERS]);
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const MAX_FALLBACKS = 8;
/** Members with a form in the kernel, and those that say nothing to another wire. */
const SHARED: ReadonlySet<string> = new Set([
  ...MESSAGE_MEMBERS,
  'service_tier',
  'speed',
  'inference_geo',
  'plugins',
  'transforms',
  'usage',
]);

/** `bytes` are those of `sent`. `isCount`: a count of the prompt, which needs no limit. Throws `invalid_request`. */
export function readMessagesRequest(
  sent: Readonly<Record<string, unknown>>,
  bytes: Buffer,
  headers: WireHeaders,
  isCount = false,
): ReadChat {
  // The client's own bytes stay: a signature holds for them.
  const copy = Buffer.from(bytes);
  const body = replaceLoneSurrogates(copy) ? (parsePlainBody(copy) as typeof sent) : sent;
  const native = checkedMembers(body, bytes, KNOWN);
  rejectRefusedMembers(body, REFUSED_MESSAGE_MEMBERS);
  const dto = filledDto(new CreateMessageDto(), MESSAGE_MEMBERS, body);
  if (dto.max_tokens === undefined && !isCount) rejectMember('max_tokens', 'is required');
  const inputs = new RawInputs(native.get('messages') ?? Buffer.from('[]'));
  const turns = readTurns(dto.messages, inputs);
  const tools = readMessageTools(dto.tools, dto.tool_choice);
  const cuts = [...turns.cuts, ...tools.cuts];
  const userId = dto.metadata?.['user_id'];
  const request: ChatRequest = {
    native: {
      wire: 'messages',
      members: native,
      headers: sentHeaders(headers),
      cuts,
      edits: [...(turns.cuts.length > 0 ? [THINKING] : []), ...tools.edits],
      unshared: [...[...native.keys()].filter((name) => !SHARED.has(name)), ...tools.unshared],
      ...(tools.webSearch && { webSearch: tools.webSearch }),
    },
    models: modelsOf(dto),
    isStreamed: dto.stream ?? false,
    includesUsageChunk: true,
    messages: [...readSystem(dto.system), ...turns.messages],
    tools: tools.tools,
    toolChoice: tools.toolChoice,
    ...formatOf(dto),
    maxOutputTokens: dto.max_tokens ?? null,
    choiceCount: 1,
    wantsLogprobs: false,
    topLogprobs: 0,
    reasoning: reasoningOf(dto),
    serviceTier: null,
    prediction: null,
    cacheWriteTtl: cacheTtlIn(bytes),
    wantsEnforcedSchema: false,
    user: typeof userId === 'string' ? boundedText(userId, MAX_USER_LENGTH) : null,
    sessionId: dto.session_id ?? null,
    trace: traceOf(dto.trace, headers),
    metadata: null,
    promptCacheKey: null,
    members: settingsOf(native, dto, tools),
  };
  return { request, preferences: fromProviderPreferencesDto(dto.provider) };
}

function modelsOf({ model, models = [], fallbacks = [] }: CreateMessageDto): string[] {
  if (fallbacks.length > MAX_FALLBACKS)
    rejectMember('fallbacks', `must have at most ${MAX_FALLBACKS} elements`);
  const others = fallbacks.map((fallback, index) => {
    const name = isObject(fallback) ? fallback['model'] : fallback;
    return typeof name === 'string' ? name : rejectMember(`fallbacks[${index}].model`, 'must be a string');
  });
  const names = [...new Set([model, ...models, ...others])];
  const wrong = names.find((name) => !isModelName(name));
  if (wrong !== undefined) rejectMember('model', 'must name a model, as vendor/model or by its bare name');
  return names;
}

function formatOf({
  output_config: config,
}: CreateMessageDto): Pick<ChatRequest, 'responseFormat' | 'responseSchema'> {
  const format = config?.['format'];
  if (!isObject(format)) return { responseFormat: 'text', responseSchema: null };
  const { type, schema } = format;
  if (type !== 'json_schema') return rejectMember('output_config.format.type', 'must be json_schema');
  if (!isObject(schema)) return rejectMember('output_config.format.schema', 'must be an object');
  const described = { name: 'answer', strict: true, schema: schema as never };
  return { responseFormat: 'json_schema', responseSchema: described };
}

function reasoningOf(dto: CreateMessageDto): ReasoningSettings | null {
  const { thinking, output_config: config, max_tokens: limit } = dto;
  const effort = config?.['effort'] ?? null;
  if (effort !== null && !EFFORTS.includes(effort as string))
    rejectMember('output_config.effort', `must be one of ${EFFORTS.join(', ')}`);
  const settings = { effort: effort as string | null, maxTokens: null, isExcluded: false, isEnabled: false };
  switch (thinking?.['type']) {
    case undefined:
      return effort === null ? null : settings;
    case 'disabled':
      return { ...settings, effort: 'none' };
    case 'enabled': {
      const { budget_tokens: budget } = thinking as { budget_tokens?: unknown };
      if (!Number.isSafeInteger(budget) || (budget as number) < 1_024)
        return rejectMember('thinking.budget_tokens', 'must be an integer of at least 1024');
      if (limit !== undefined && (budget as number) >= limit)
        return rejectMember('thinking.budget_tokens', 'must be less than max_tokens');
      return { ...settings, maxTokens: budget as number, isEnabled: true };
    }
    default:
      return { ...settings, isEnabled: true };
  }
}

/** Settings in the kernel's names. Numbers keep their digits. */
function settingsOf(
  native: ReadonlyMap<string, Buffer>,
  dto: CreateMessageDto,
  { tools, toolChoice, isSequential }: ReadTools,
): Map<string, Buffer> {
  const settings = new Map<string, Buffer>();
  const keep = (name: string, from = name): void => {
    const value = native.get(from);
    if (value !== undefined) settings.set(name, value);
  };
  keep('temperature');
  keep('top_p');
  keep('top_k');
  if (isArray(dto.stop_sequences) && dto.stop_sequences.length > 0) keep('stop', 'stop_sequences');
  keep('cache_control');
  if (tools.length > 0 && toolChoice !== null) keep('tool_choice');
  if (tools.length > 0 && isSequential) settings.set('parallel_tool_calls', Buffer.from('false'));
  const format = formatOf(dto);
  if (format.responseSchema !== null)
    settings.set(
      'response_format',
      Buffer.from(JSON.stringify({ type: 'json_schema', json_schema: format.responseSchema })),
    );
  return settings;
}

/** The longest life of a cache entry that the call may write. */
function cacheTtlIn(bytes: Buffer): '5m' | '1h' | null {
  if (!bytes.includes('"cache_control"')) return null;
  return /"ttl"\s*:\s*"1h"/.test(bytes.toString('latin1')) ? '1h' : '5m';
}

function traceOf(trace: CallerTrace | undefined, headers: WireHeaders): CallerTrace | null {
  const agent = traceOfAgent(headers);
  return agent === null ? (trace ?? null) : { metadata: agent, ...trace };
}
