// Settings of other wires in the Responses wire.
import type { MemberEdit, MemberRule, SupportTraits } from '../chat/chat-traits.js';
import { NO_OPEN_SAMPLING, writtenElsewhere } from '../chat/member-rules.js';
import type { ChatCall } from '../chat-wire.js';

const MEMBERS: Readonly<Record<string, MemberRule>> = {
  ...NO_OPEN_SAMPLING,
  temperature: withoutReasoning,
  top_p: withoutReasoning,
  seed: 'drop',
  frequency_penalty: 'drop',
  presence_penalty: 'drop',
  logit_bias: 'drop',
  top_logprobs: 'drop',
  prediction: 'drop',
  cache_control: 'drop',
  service_tier: 'keep',
  verbosity: (_value, { endpoint }) =>
    endpoint.supportedParameters.includes('verbosity') ? 'omitted' : 'dropped',
  // Members of other names or forms: kernel-body.ts writes them.
  stop: writtenElsewhere,
  response_format: writtenElsewhere,
  tool_choice: writtenElsewhere,
};

export function responsesSupport(mediaUrls: SupportTraits['mediaUrls']): SupportTraits {
  return {
    protocol: 'responses',
    members: MEMBERS,
    lacks: ['n', 'logprobs', 'grammar', 'python'],
    mediaUrls,
    files: 'documents',
  };
}

/** Reasoning models refuse the member, whatever its value: 1 is their own. */
function withoutReasoning(value: Buffer, { endpoint }: ChatCall): MemberEdit {
  if (!endpoint.isReasoning) return { value };
  return Number(value.toString()) === 1 ? 'omitted' : 'dropped';
}
