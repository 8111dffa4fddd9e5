// Settings of other wires in the Converse wire.
import type { MemberRule, SupportTraits } from '../chat/chat-traits.js';
import { NO_CACHE_SETTINGS, renamed, stopAsList, writtenElsewhere } from '../chat/member-rules.js';

const MEMBERS: Readonly<Record<string, MemberRule>> = {
  ...NO_CACHE_SETTINGS,
  // Marks of messages are sent: that of the whole body has no place.
  top_p: renamed('topP'),
  stop: stopAsList('stopSequences'),
  service_tier: 'keep',
  seed: 'drop',
  frequency_penalty: 'drop',
  presence_penalty: 'drop',
  logit_bias: 'drop',
  top_logprobs: 'drop',
  verbosity: 'drop',
  prediction: 'drop',
  parallel_tool_calls: 'drop',
  user: 'drop',
  // Members of other names: define-converse-wire.ts writes them.
  response_format: writtenElsewhere,
  tool_choice: writtenElsewhere,
};

export const CONVERSE_SUPPORT: SupportTraits = {
  protocol: 'converse',
  members: MEMBERS,
  lacks: ['n', 'logprobs', 'response_format', 'grammar', 'python'],
  mediaUrls: 'refused',
  files: 'documents',
};

/** The members of `inferenceConfig`; others are fields of the model. */
export const INFERENCE_MEMBERS: ReadonlySet<string> = new Set([
  'maxTokens',
  'temperature',
  'topP',
  'stopSequences',
]);
