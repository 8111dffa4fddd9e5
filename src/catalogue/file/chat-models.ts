// Reads the chat models of the operator's catalogue file.
import type {
  CancellationBilling,
  ChatEndpoint,
  ChatModality,
  ChatModel,
  ChatWireSettings,
} from '../../domain/chat/chat-model.js';
import { readPrices } from './chat-prices.js';
import {
  given,
  MOST,
  readChoices,
  readCount,
  readDataPolicy,
  readDatedRows,
  readDay,
  readEndpoints,
  readFlag,
  readId,
  readLabel,
  readModels,
  readQuantization,
  readTag,
} from './fields.js';
import type { CanonicalTag } from './fields.js';
import type { YamlCursor, YamlObject } from '../yaml-cursor.js';

export interface ChatFileContext {
  readonly shippedChat: readonly ChatModel[];
  /** The slugs that an endpoint may name. */
  readonly chatProviders: readonly string[];
  readonly canonicalTag: CanonicalTag;
}

const MODALITIES: readonly ChatModality[] = ['text', 'image', 'audio', 'file', 'video'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const CANCELLATIONS: readonly CancellationBilling[] = ['stops', 'stops_always', 'runs_on', 'unknown'];
/** The parameters of servers with open weights, where a catalogue file names none. */
const COMMON_PARAMETERS = [
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
];

export function readChatModels(top: YamlObject, context: ChatFileContext): ChatModel[] {
  return readModels(top, 'chat_models', context.shippedChat, (cursor, known) =>
    readModel(cursor, known, context),
  );
}

function readModel(
  cursor: YamlCursor,
  known: ReadonlyMap<string, ChatModel>,
  context: ChatFileContext,
): ChatModel {
  const model = cursor.object(
    'id name description created_at context_length tokenizer endpoints canonical_slug aliases'.split(' '),
  );
  const id = model.read('id', readId);
  const base = known.get(id);
  const canonicalSlug = model.optional('canonical_slug', readId);
  const aliases = model.optional('aliases', (member) => member.list().map(readId));
  const contextLength = model.read('context_length', readCount, base?.contextLength);
  return {
    ...base,
    id,
    ...(canonicalSlug === undefined ? {} : { canonicalSlug }),
    ...(aliases && { aliases }),
    name: model.read('name', readLabel, base?.name ?? id),
    description: model.read('description', readLabel, base?.description ?? ''),
    createdAt: model.read('created_at', readDay, base?.createdAt),
    contextLength,
    tokenizer: model.read(
      'tokenizer',
      (member) => (member.isNull() ? null : member.choice(['cl100k', 'o200k'] as const)),
      base?.tokenizer ?? null,
    ),
    endpoints: model.read(
      'endpoints',
      (member) =>
        readEndpoints(member, base?.endpoints ?? [], (item, endpoints) =>
          readEndpoint(item, endpoints, contextLength, context),
        ),
      base?.endpoints,
    ),
  };
}

function readEndpoint(
  cursor: YamlCursor,
  known: ReadonlyMap<string, ChatEndpoint>,
  modelContextLength: number,
  { chatProviders, canonicalTag }: ChatFileContext,
): ChatEndpoint {
  const endpoint = cursor.object([
    ...'provider tag upstream_model context_length max_output_tokens supported_parameters input_modalities'.split(
      ' ',
    ),
    ...'reasoning_efforts is_reasoning hides_reasoning prices prompt_overhead max_tokens_per_image'.split(
      ' ',
    ),
    ...'tokens_per_image max_tokens_per_audio_second max_tokens_per_file max_tokens_per_video cancellation output_limit'.split(
      ' ',
    ),
    ...'stream_usage schema allowed_members quantization data_policy'.split(' '),
  ]);
  const provider = endpoint.read('provider', (member) => member.choice(chatProviders, canonicalTag));
  const tag = endpoint.optional('tag', (member) => readTag(member, provider, canonicalTag));
  const base = known.get(tag ?? provider);
  if (provider === 'local' && !base) cursor.fail('provider: local serves its own model only');
  const contextLength = endpoint.read('context_length', readCount, base?.contextLength ?? modelContextLength);
  const reasoningEfforts = endpoint.read(
    'reasoning_efforts',
    (member) => readEfforts(member),
    base?.reasoningEfforts ?? [],
  );
  return {
    ...base,
    provider,
    ...(tag === undefined || tag === provider ? {} : { tag }),
    upstreamModel: endpoint.read('upstream_model', readLabel, base?.upstreamModel),
    contextLength,
    ...given('maxOutputTokens', endpoint.optional('max_output_tokens', boundedBy(contextLength))),
    supportedParameters: endpoint.read(
      'supported_parameters',
      readParameters,
      base?.supportedParameters ?? COMMON_PARAMETERS,
    ),
    inputModalities: endpoint.read(
      'input_modalities',
      readChoices(MODALITIES),
      base?.inputModalities ?? ['text'],
    ),
    reasoningEfforts,
    isReasoning: endpoint.read('is_reasoning', readFlag, base?.isReasoning ?? reasoningEfforts.length > 0),
    hidesReasoning: endpoint.read('hides_reasoning', readFlag, base?.hidesReasoning ?? false),
    prices: endpoint.read('prices', (member) => readDatedRows(member, readPrices), base?.prices),
    ...given('promptOverhead', endpoint.optional('prompt_overhead', readOverhead)),
    ...given('tokensPerImage', endpoint.optional('tokens_per_image', readImageTokens)),
    ...given('maxTokensPerImage', endpoint.optional('max_tokens_per_image', readImageTokens)),
    ...given('maxTokensPerAudioSecond', endpoint.optional('max_tokens_per_audio_second', readCount)),
    ...given('maxTokensPerFile', endpoint.optional('max_tokens_per_file', readCount)),
    ...given('maxTokensPerVideo', endpoint.optional('max_tokens_per_video', readCount)),
    ...given(
      'cancellation',
      endpoint.optional('cancellation', (member) => member.choice(CANCELLATIONS)),
    ),
    ...given('wire', readWire(endpoint, base?.wire)),
    ...given('allowedMembers', endpoint.optional('allowed_members', readParameters)),
    quantization: endpoint.read('quantization', readQuantization, base?.quantization ?? null),
    dataPolicy: endpoint.read('data_policy', readDataPolicy, base?.dataPolicy),
  };
}

function readWire(endpoint: YamlObject, base: ChatWireSettings | undefined): ChatWireSettings | undefined {
  const settings = {
    ...base,
    ...given(
      'outputLimit',
      endpoint.optional('output_limit', (member) =>
        member.choice(['max_tokens', 'max_completion_tokens'] as const),
      ),
    ),
    ...given(
      'streamUsage',
      endpoint.optional('stream_usage', (member) => member.choice(['ask', 'unasked', 'none'] as const)),
    ),
    ...given(
      'schema',
      endpoint.optional('schema', (member) => member.choice(['open', 'closed'] as const)),
    ),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function readOverhead(cursor: YamlCursor): NonNullable<ChatEndpoint['promptOverhead']> {
  const overhead = cursor.object(['fixed', 'per_message', 'per_tool']);
  const count = (member: YamlCursor): number => member.integer(0, MOST);
  return {
    fixed: overhead.read('fixed', count),
    perMessage: overhead.read('per_message', count),
    perTool: overhead.read('per_tool', count),
  };
}

function readImageTokens(cursor: YamlCursor): NonNullable<ChatEndpoint['tokensPerImage']> {
  const tokens = cursor.object(['low', 'high']);
  return { low: tokens.read('low', readCount), high: tokens.read('high', readCount) };
}

/** Lowest first, in whatever order the file has them. */
function readEfforts(cursor: YamlCursor): string[] {
  const named = new Set(cursor.list().map((item) => item.choice(EFFORTS)));
  return EFFORTS.filter((effort) => named.has(effort));
}

function readParameters(cursor: YamlCursor): string[] {
  const names = cursor.list().map((item) => item.text(/^\w{1,100}$/, 'the name of a member'));
  return [...new Set(names)];
}

function boundedBy(most: number): (cursor: YamlCursor) => number {
  return (cursor) => cursor.integer(1, most);
}
