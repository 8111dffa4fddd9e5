// Settings of a call as `generationConfig` of Gemini's wire.
import { isObject } from '../../../domain/members.js';
import { BodyAssembly } from '../body-assembly.js';
import { editedMembers } from '../chat/chat-members.js';
import type { MemberRule, SupportTraits } from '../chat/chat-traits.js';
import {
  NO_CACHE_SETTINGS,
  NO_OPEN_SAMPLING,
  renamed,
  stopAsList,
  writtenElsewhere,
} from '../chat/member-rules.js';
import type { ChatCall } from '../chat-wire.js';
import { inlinedSchema } from './inlined-schema.js';
import { thinkingConfig } from './thinking-config.js';

const MEMBERS: Readonly<Record<string, MemberRule>> = {
  ...NO_OPEN_SAMPLING,
  ...NO_CACHE_SETTINGS,
  top_p: renamed('topP'),
  top_k: renamed('topK'),
  stop: stopAsList('stopSequences'),
  frequency_penalty: ifListed('frequency_penalty', 'frequencyPenalty'),
  presence_penalty: ifListed('presence_penalty', 'presencePenalty'),
  logit_bias: 'drop',
  top_logprobs: 'drop',
  verbosity: 'drop',
  prediction: 'drop',
  user: 'drop',
  // Google caches by itself.
  cache_control: writtenElsewhere,
  // Calls may always be parallel.
  parallel_tool_calls: (value) => (value.toString() === 'false' ? 'dropped' : 'omitted'),
  response_format: writtenElsewhere,
  tool_choice: writtenElsewhere,
};

export const GEMINI_SUPPORT: SupportTraits = {
  members: MEMBERS,
  lacks: ['n', 'logprobs', 'grammar', 'python'],
  mediaUrls: 'listed',
};

/** Null: there are none. `edits` receives what is lost. */
export function generationConfig(call: ChatCall, edits: Set<string>): Buffer | null {
  const { maxOutputTokens } = call;
  const config = new BodyAssembly();
  for (const [name, value] of editedMembers(call, GEMINI_SUPPORT, edits)) config.add(name, value);
  if (maxOutputTokens !== null) config.add('maxOutputTokens', String(maxOutputTokens));
  const thinking = thinkingConfig(call);
  if (thinking.isWeaker) edits.add('reasoning');
  if (thinking.config !== null) config.add('thinkingConfig', JSON.stringify(thinking.config));
  addFormat(config, call);
  return config.isEmpty ? null : Buffer.concat(config.finish());
}

function addFormat(config: BodyAssembly, { request: { responseFormat, responseSchema } }: ChatCall): void {
  if (responseFormat !== 'json_object' && responseFormat !== 'json_schema') return;
  config.add('responseMimeType', '"application/json"');
  const described = isObject(responseSchema) ? responseSchema['schema'] : null;
  if (isObject(described)) config.add('responseJsonSchema', JSON.stringify(inlinedSchema(described)));
}

/** Not every model takes it. */
function ifListed(parameter: string, name: string): MemberRule {
  return (value, { endpoint }) =>
    endpoint.supportedParameters.includes(parameter) ? { name, value } : 'dropped';
}
