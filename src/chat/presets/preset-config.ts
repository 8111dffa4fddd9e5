// From the body of a call to the settings that a preset keeps of it. The readers of calls check it; their kernel's form is the same
// for every wire.
import type { ChatMessage, ChatRequest, JsonValue } from '../../domain/chat/chat-request.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { AppError, rejectMember } from '../../domain/errors.js';
import { isArray, isGiven, isObject } from '../../domain/members.js';
import { MAX_PRESET_BYTES, PRESET_MARK } from '../../domain/preset.js';
import type { PresetSettings } from '../../domain/preset.js';
import { readMessagesRequest } from '../request/messages/read-messages-request.js';
import { readRawMembers } from '../request/raw-members.js';
import { readChatRequest } from '../request/read-chat-request.js';
import { readResponsesRequest } from '../request/responses/read-responses-request.js';
import { joinMembers, memberOf } from './member-text.js';
import type { Member } from './member-text.js';

type Body = Readonly<Record<string, unknown>>;

/** Members of the wires that a preset keeps, or that the readers refuse. Others are ignored. */
const KEPT: Readonly<Record<ModelWire, string>> = {
  chat:
    'model models provider max_tokens max_completion_tokens temperature top_p top_k top_a min_p frequency_penalty ' +
    'presence_penalty repetition_penalty seed stop logit_bias tools tool_choice parallel_tool_calls response_format ' +
    'structured_outputs reasoning reasoning_effort include_reasoning verbosity transforms plugins',
  messages:
    'model models fallbacks provider max_tokens system temperature top_p top_k stop_sequences tools tool_choice thinking ' +
    'output_config transforms plugins',
  responses:
    'model models provider max_output_tokens instructions temperature top_p top_k frequency_penalty presence_penalty tools ' +
    'tool_choice parallel_tool_calls text reasoning transforms plugins',
};
/** Settings of the kernel that have their own bytes. */
const SETTINGS =
  'temperature top_p top_k top_a min_p frequency_penalty presence_penalty repetition_penalty seed stop logit_bias response_format verbosity parallel_tool_calls'.split(
    ' ',
  );
/** Stands for the model of a preset that names none. */
const NO_MODEL = 'preset/none';
/** Stands for the words of the user, which the readers need in every wire. */
const USER = { role: 'user', content: '-' };

/** `bytes` are those of `body`. Throws `invalid_request` or `payload_too_large`. */
export function presetSettings(wire: ModelWire, body: Body, bytes: Buffer): PresetSettings {
  if (bytes.length > MAX_PRESET_BYTES)
    throw new AppError('payload_too_large', { detail: `presets have at most ${MAX_PRESET_BYTES} bytes` });
  const members = readRawMembers(bytes);
  const kept = KEPT[wire].split(' ').filter((name) => isGiven(body[name]));
  rejectPresets(body);
  const probe = new Map<string, Pick<Member, 'bytes'>>();
  for (const name of kept) probe.set(name, { bytes: members.get(name) ?? Buffer.from('null') });
  const hasModel = isGiven(body['model']);
  if (!hasModel && (wire === 'messages' || !isGiven(body['models']))) probe.set('model', memberOf(NO_MODEL));
  const member = wire === 'responses' ? 'input' : 'messages';
  probe.set(member, memberOf([...leadingSystem(body[member]), USER]));
  const probed = joinMembers(probe);
  const request = readProbe(wire, JSON.parse(probed.toString()) as Body, probed);
  rejectOwnTools(request);
  const config = configOf(request, members, body, hasModel);
  return { config: joinMembers(config).toString(), systemPrompt: systemPromptOf(request.messages) };
}

function readProbe(wire: ModelWire, body: Body, bytes: Buffer): ChatRequest {
  switch (wire) {
    case 'chat':
      return readChatRequest(body, bytes).request;
    case 'messages':
      // Without a limit, as a count of a prompt.
      return readMessagesRequest(body, bytes, {}, true).request;
    case 'responses':
      return readResponsesRequest(body, bytes).request;
  }
}

function rejectPresets({ model, models, preset }: Body): void {
  if (isGiven(preset)) rejectMember('preset', 'a preset has no other preset');
  const names = [model, ...(isArray(models) ? models : [])];
  if (names.some((name) => typeof name === 'string' && name.includes(PRESET_MARK)))
    rejectMember('model', 'a preset has no other preset; name a model');
}

/** Messages before the first of another role. */
function leadingSystem(messages: unknown): readonly unknown[] {
  const all = isArray(messages) ? messages : [];
  const end = all.findIndex(
    (message) => !isObject(message) || !['system', 'developer'].includes(message['role'] as string),
  );
  return end === -1 ? all : all.slice(0, end);
}

/** Tools that one wire alone has would be lost for callers of the others. */
function rejectOwnTools({ native }: ChatRequest): void {
  const isOwn = (name: string): boolean => name.startsWith('tools.');
  const hasOwn =
    native?.responses?.hasCustomTools === true ||
    native?.webSearch !== undefined ||
    [...(native?.unshared ?? []), ...(native?.edits ?? [])].some(isOwn);
  if (hasOwn) rejectMember('tools', 'presets have function tools only, which every wire can call');
}

function systemPromptOf(messages: readonly ChatMessage[]): string | null {
  const texts = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .flatMap(({ content }) => {
      if (typeof content === 'string') return [content];
      return (content ?? []).map((part) =>
        part.type === 'text'
          ? part.text
          : rejectMember('messages', 'the system prompt of a preset is a text'),
      );
    });
  const prompt = texts.join('\n\n');
  return prompt === '' ? null : prompt;
}

function configOf(
  request: ChatRequest,
  members: ReadonlyMap<string, Buffer>,
  body: Body,
  hasModel: boolean,
): Map<string, Pick<Member, 'bytes'>> {
  const config = new Map<string, Pick<Member, 'bytes'>>();
  const set = (name: string, value: JsonValue): void => {
    config.set(name, memberOf(value));
  };
  const keep = (name: string, bytes: Buffer | undefined): void => {
    if (bytes) config.set(name, { bytes });
  };
  const { models, maxOutputTokens, tools, toolChoice, reasoning, wantsEnforcedSchema } = request;
  const named = models.filter((name) => name !== NO_MODEL);
  if (hasModel) set('model', named[0] ?? null);
  if (named.length > Number(hasModel)) set('models', named.slice(Number(hasModel)));
  if (isGiven(body['provider'])) keep('provider', members.get('provider'));
  if (maxOutputTokens !== null) set('max_tokens', maxOutputTokens);
  for (const name of SETTINGS) keep(name, request.members.get(name));
  if (wantsEnforcedSchema) set('structured_outputs', true);
  if (reasoning !== null) set('reasoning', reasoningMembers(reasoning));
  if (tools.length > 0)
    set(
      'tools',
      tools.map(({ body: tool }) => tool),
    );
  if (toolChoice !== null)
    set(
      'tool_choice',
      'mode' in toolChoice
        ? toolChoice.mode
        : { type: 'function', function: { name: toolChoice.functionName } },
    );
  return config;
}

function reasoningMembers({
  effort,
  maxTokens,
  isExcluded,
  isEnabled,
}: NonNullable<ChatRequest['reasoning']>): JsonValue {
  return {
    ...(effort !== null && { effort }),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
    ...(isExcluded && { exclude: true }),
    ...(isEnabled && { enabled: true }),
  };
}
