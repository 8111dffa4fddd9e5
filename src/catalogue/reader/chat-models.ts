// Reads chat models.
import type {
  CancellationBilling,
  ChatEndpoint,
  ChatModality,
  ChatModel,
  ChatPrices,
  ChatWireSettings,
} from '../../domain/chat/chat-model.js';
import type { Cursor, ObjectCursor } from './cursor.js';
import {
  given,
  itemsOf,
  modelMembers,
  MOST,
  readChoices,
  readCount,
  readEndpoints,
  readFlag,
  readNames,
} from './members.js';
import type { EndpointMembers, EndpointRules, KnownModels } from './members.js';
import { readChatPrices, readTokenPriceNames } from './prices.js';

const MODALITIES: readonly ChatModality[] = ['text', 'image', 'audio', 'file', 'video'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const CANCELLATIONS: readonly CancellationBilling[] = ['stops', 'stops_always', 'runs_on', 'unknown'];
/** The parameters of servers with open weights, where the catalogue names none. */
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

export const CHAT_ENDPOINT_MEMBERS = [
  ...'context_length max_output_tokens supported_parameters input_modalities reasoning_efforts'.split(' '),
  ...'is_reasoning hides_reasoning tools_only_without_reasoning prompt_overhead tokens_per_image'.split(' '),
  ...'max_tokens_per_image needs max_tokens_per_audio_second max_tokens_per_file max_tokens_per_video cancellation'.split(
    ' ',
  ),
  ...'wires betas output_limit stream_usage reasoning_member thinking custom_tools allowed_members schema'.split(
    ' ',
  ),
];

export function readChatModel(
  cursor: Cursor,
  known: KnownModels<ChatModel>,
  rules: EndpointRules,
): ChatModel {
  const { members, base, shared } = modelMembers(cursor, known, ['tokenizer']);
  return {
    ...base,
    ...shared,
    tokenizer: members.read(
      'tokenizer',
      (member) => (member.isNull() ? null : member.choice(['cl100k', 'o200k'] as const)),
      base?.tokenizer ?? null,
    ),
    endpoints: members.read(
      'endpoints',
      (member) =>
        readEndpoints(member, base?.endpoints ?? [], CHAT_ENDPOINT_MEMBERS, rules, (endpoint) =>
          readChatEndpoint(endpoint, shared.contextLength, base?.endpoints ?? [], rules),
        ),
      base?.endpoints,
    ),
  };
}

export function readChatEndpoint(
  { members, base, shared }: EndpointMembers<ChatEndpoint>,
  modelContextLength: number,
  below: readonly ChatEndpoint[],
  { chatWires, defaults }: EndpointRules,
): ChatEndpoint {
  const contextLength = members.read('context_length', readCount, base?.contextLength ?? modelContextLength);
  members.optional('schema', requireClosedSchema);
  const needs = readNeeds(members, shared.provider, below, defaults);
  const reasoningEfforts = members.read('reasoning_efforts', readEfforts, base?.reasoningEfforts ?? []);
  const wires = members.optional('wires', readChoices(chatWires.get(shared.provider) ?? [])) ?? base?.wires;
  return {
    ...base,
    ...shared,
    ...given('wires', wires),
    contextLength,
    ...given('maxOutputTokens', members.optional('max_output_tokens', boundedBy(contextLength))),
    supportedParameters: members.read(
      'supported_parameters',
      readNames,
      base?.supportedParameters ?? COMMON_PARAMETERS,
    ),
    inputModalities: members.read(
      'input_modalities',
      readChoices(MODALITIES),
      base?.inputModalities ?? ['text'],
    ),
    reasoningEfforts,
    isReasoning: members.read('is_reasoning', readFlag, base?.isReasoning ?? reasoningEfforts.length > 0),
    hidesReasoning: members.read('hides_reasoning', readFlag, base?.hidesReasoning ?? false),
    ...given(
      'toolsOnlyWithoutReasoning',
      members.optional('tools_only_without_reasoning', (member) =>
        reasoningEfforts.includes('none') || wires?.some((wire) => wire !== 'chat') === true
          ? member.boolean()
          : member.fail('needs none among the reasoning_efforts, or another wire than chat'),
      ),
    ),
    prices: members.read('prices', readChatPrices(needs), base?.prices),
    ...(needs.length > 0 && { needs }),
    ...given('promptOverhead', members.optional('prompt_overhead', readOverhead)),
    ...given('tokensPerImage', members.optional('tokens_per_image', readImageTokens)),
    ...given('maxTokensPerImage', members.optional('max_tokens_per_image', readImageTokens)),
    ...given('maxTokensPerAudioSecond', members.optional('max_tokens_per_audio_second', readCount)),
    ...given('maxTokensPerFile', members.optional('max_tokens_per_file', readCount)),
    ...given('maxTokensPerVideo', members.optional('max_tokens_per_video', readCount)),
    ...given(
      'cancellation',
      members.optional('cancellation', (member) => member.choice(CANCELLATIONS)),
    ),
    ...given('wire', readWire(members, base?.wire)),
    ...given('betas', members.optional('betas', readBetas)),
    ...given('allowedMembers', members.optional('allowed_members', readMemberPaths)),
  };
}

/**
 * A layer adds to them and takes none away: one row without the price of writes would charge them as plain prompts. Another
 * endpoint of the model needs what those below need.
 */
function readNeeds(
  members: ObjectCursor,
  provider: string,
  below: readonly ChatEndpoint[],
  defaults: EndpointRules['defaults'],
): (keyof ChatPrices)[] {
  return [
    ...new Set([
      ...below.flatMap(({ needs }) => needs ?? []),
      ...(defaults.get(provider)?.optional('needs', readTokenPriceNames) ?? []),
      ...(members.optional('needs', readTokenPriceNames) ?? []),
    ]),
  ];
}

/** Files of earlier builds state it. Every endpoint is `closed` now. */
function requireClosedSchema(cursor: Cursor): void {
  if (cursor.choice(['closed', 'open'] as const) === 'open')
    cursor.fail(
      'open is gone: remove this member, and list the members that the server may get in allowed_members',
    );
}

function readWire(members: ObjectCursor, base: ChatWireSettings | undefined): ChatWireSettings | undefined {
  const settings = {
    ...base,
    ...given(
      'outputLimit',
      members.optional('output_limit', (member) =>
        member.choice(['max_tokens', 'max_completion_tokens'] as const),
      ),
    ),
    ...given(
      'streamUsage',
      members.optional('stream_usage', (member) => member.choice(['ask', 'unasked', 'none'] as const)),
    ),
    ...given(
      'reasoningMember',
      members.optional('reasoning_member', (member) =>
        member.choice(['reasoning', 'reasoning_content'] as const),
      ),
    ),
    ...given(
      'thinking',
      members.optional('thinking', (member) => member.choice(['adaptive', 'budget'] as const)),
    ),
    ...given('customTools', members.optional('custom_tools', readFlag)),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function readOverhead(cursor: Cursor): NonNullable<ChatEndpoint['promptOverhead']> {
  const overhead = cursor.object(['fixed', 'per_message', 'per_tool']);
  const count = (member: Cursor): number => member.integer(0, MOST);
  return {
    fixed: overhead.read('fixed', count),
    perMessage: overhead.read('per_message', count),
    perTool: overhead.read('per_tool', count),
  };
}

function readImageTokens(cursor: Cursor): NonNullable<ChatEndpoint['tokensPerImage']> {
  const tokens = cursor.object(['low', 'high']);
  return { low: tokens.read('low', readCount), high: tokens.read('high', readCount) };
}

/** Lowest first, in whatever order the file has them. */
function readEfforts(cursor: Cursor): string[] {
  const named = new Set(cursor.list().map((item) => item.choice(EFFORTS)));
  return EFFORTS.filter((effort) => named.has(effort));
}

function readBetas(cursor: Cursor): string[] {
  return itemsOf(cursor).map((item) => item.text(/^[a-z0-9-]{1,100}$/, 'the name of a beta'));
}

/** Paths of messages, parts and tools as well: `messages.content.uuid`. */
function readMemberPaths(cursor: Cursor): string[] {
  const path = /^\w{1,100}(?:\.\w{1,100}){0,3}$/;
  return [...new Set(itemsOf(cursor).map((item) => item.text(path, 'the name or path of a member')))];
}

function boundedBy(most: number): (cursor: Cursor) => number {
  return (cursor) => cursor.integer(1, most);
}
