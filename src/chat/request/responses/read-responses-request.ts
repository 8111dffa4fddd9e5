// From the bytes of a body in the Responses wire to a checked call in the kernel's form (docs/contract.md#responses).
import type { CallerTrace } from '../../../domain/caller-trace.js';
import type { ChatRequest, JsonObject } from '../../../domain/chat/chat-request.js';
import type { ModelWire } from '../../../domain/chat/model-wire.js';
import { rejectMember } from '../../../domain/errors.js';
import { isGiven, isObject } from '../../../domain/members.js';
import { parsePlainBody } from '../../../http/body/plain-body.js';
import { fromProviderPreferencesDto } from '../../../http/dto/provider-preferences.dto.js';
import { readReasoning } from '../../dto/chat-reasoning.js';
import { readResponseFormat } from '../../dto/chat-tools.js';
import { isModelName, VERBOSITIES } from '../../dto/create-chat-completion.dto.js';
import { CreateResponseDto, RESPONSE_MEMBERS } from '../../dto/create-response.dto.js';
import { rejectRefusedMembers } from '../../dto/refused-members.js';
import { checkedMembers, filledDto } from '../checked-body.js';
import { namesByFold } from '../raw-members.js';
import { tierOf } from '../read-chat-request.js';
import type { ReadChat } from '../read-chat-request.js';
import { replaceLoneSurrogates } from '../well-formed-bytes.js';
import { reasoningCuts } from './earlier-reasoning.js';
import { readInstructions, readItems } from './read-items.js';
import { readResponseTools } from './read-response-tools.js';
import type { ReadTools } from './read-response-tools.js';
import { REFUSED_RESPONSE_MEMBERS } from './refused-response-members.js';
import { responseEcho } from './response-echo.js';

const KNOWN = namesByFold([...RESPONSE_MEMBERS, ...Object.keys(REFUSED_RESPONSE_MEMBERS)]);
const ENCRYPTED = 'reasoning.encrypted_content';
const LOGPROBS = 'message.output_text.logprobs';
/** Members with a form in the kernel, and those that say nothing to an endpoint. */
const SHARED: ReadonlySet<string> = new Set([
  ...RESPONSE_MEMBERS.filter((name) => name !== 'top_logprobs'),
  ...Object.keys(REFUSED_RESPONSE_MEMBERS),
  'client_metadata',
  'route',
  'stream_options',
  'usage',
]);
/** Settings that have the same name in the kernel. */
const SETTINGS = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
];

/** `bytes` are those of `sent`. `client`: the wire of the answer. Throws `invalid_request`. */
export function readResponsesRequest(
  sent: Readonly<Record<string, unknown>>,
  bytes: Buffer,
  client: ModelWire = 'responses',
): ReadChat {
  const body = replaceLoneSurrogates(bytes) ? (parsePlainBody(bytes) as typeof sent) : sent;
  const members = checkedMembers(body, bytes, KNOWN);
  rejectRefusedMembers(body, REFUSED_RESPONSE_MEMBERS);
  const dto = filledDto(new CreateResponseDto(), RESPONSE_MEMBERS, body);
  const tools = readResponseTools(dto.tools, dto.tool_choice);
  const items = readItems(dto.input);
  const format = formatOf(dto);
  const request: ChatRequest = {
    native: {
      wire: client,
      members,
      headers: {},
      cuts: [...reasoningCuts(dto.input), ...tools.cuts],
      edits: tools.edits,
      unshared: [
        ...[...members.keys()].filter((name) => !SHARED.has(name)),
        ...(dto.include?.includes(LOGPROBS) === true ? ['include'] : []),
      ],
      responses: {
        echo: responseEcho(members),
        tools: tools.declared,
        wantsEncryptedReasoning: dto.include?.includes(ENCRYPTED) === true,
        hasCustomTools: tools.hasCustom || items.hasCustom,
        hasOwnSettings: tools.hasCutChoice || hasOwnReasoning(dto),
      },
    },
    models: modelsOf(dto),
    isStreamed: dto.stream ?? false,
    includesUsageChunk: isObject(body['stream_options']) && body['stream_options']['include_usage'] === true,
    messages: [...readInstructions(dto.instructions), ...items.messages],
    tools: tools.tools,
    toolChoice: tools.toolChoice,
    ...readResponseFormat(format ?? undefined),
    maxOutputTokens: dto.max_output_tokens ?? null,
    choiceCount: 1,
    wantsLogprobs: false,
    topLogprobs: 0,
    reasoning: readReasoning({ ...(dto.reasoning && { reasoning: dto.reasoning }) }),
    serviceTier: tierOf(dto.service_tier),
    prediction: null,
    cacheWriteTtl: retentionOf(dto.prompt_cache_retention),
    wantsEnforcedSchema: false,
    user: dto.user ?? dto.safety_identifier ?? null,
    sessionId: dto.session_id ?? null,
    trace: traceOf(dto),
    metadata: dto.metadata ?? null,
    promptCacheKey: dto.prompt_cache_key ?? null,
    members: settingsOf(members, dto, tools, format),
  };
  return { request, preferences: fromProviderPreferencesDto(dto.provider) };
}

function modelsOf({ model, models = [] }: CreateResponseDto): string[] {
  const names = [...new Set([...(model === undefined ? [] : [model]), ...models])];
  if (names.length === 0) rejectMember('model', 'is required');
  const wrong = names.find((name) => !isModelName(name));
  if (wrong !== undefined)
    rejectMember(wrong === model ? 'model' : 'models', 'must have the form vendor/model');
  return names;
}

/** In Chat's form; null: a text. */
function formatOf({ text }: CreateResponseDto): JsonObject | null {
  const format = text?.['format'];
  if (format === undefined || format === null) return null;
  if (!isObject(format)) return rejectMember('text.format', 'must be an object');
  const { type, ...described } = format as JsonObject;
  switch (type) {
    case 'text':
      return null;
    case 'json_object':
      return { type };
    case 'json_schema':
      return { type, json_schema: described };
    default:
      return rejectMember('text.format.type', 'must be text, json_object or json_schema');
  }
}

/** Settings of OpenRouter's, which OpenAI refuses. */
function hasOwnReasoning({ reasoning = {} }: CreateResponseDto): boolean {
  return ['max_tokens', 'exclude', 'enabled'].some((name) => isGiven(reasoning[name]));
}

function retentionOf(retention: string | undefined): ChatRequest['cacheWriteTtl'] {
  if (retention === undefined) return null;
  return retention === '1h' || retention === '24h' ? '1h' : '5m';
}

/** The metadata of the wire is part of the trace, whose own member of that name wins. */
function traceOf({ trace, metadata }: CreateResponseDto): CallerTrace | null {
  return metadata === undefined ? (trace ?? null) : { metadata, ...trace };
}

/** Numbers keep their digits. */
function settingsOf(
  members: ReadonlyMap<string, Buffer>,
  { text, parallel_tool_calls: isParallel }: CreateResponseDto,
  { tools, toolChoice }: ReadTools,
  format: JsonObject | null,
): Map<string, Buffer> {
  const settings = new Map<string, Buffer>();
  const keep = (name: string): void => {
    const value = members.get(name);
    if (value !== undefined) settings.set(name, value);
  };
  const set = (name: string, value: unknown): void => {
    settings.set(name, Buffer.from(JSON.stringify(value)));
  };
  for (const name of SETTINGS) keep(name);
  const verbosity = text?.['verbosity'] ?? null;
  if (verbosity !== null && !VERBOSITIES.includes(verbosity as string))
    rejectMember('text.verbosity', `must be one of ${VERBOSITIES.join(', ')}`);
  if (verbosity !== null) set('verbosity', verbosity);
  if (format !== null) set('response_format', format);
  if (tools.length === 0) return settings;
  if (toolChoice !== null) keep('tool_choice');
  if (isParallel !== undefined) keep('parallel_tool_calls');
  return settings;
}
