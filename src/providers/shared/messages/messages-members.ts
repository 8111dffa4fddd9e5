// Settings of other wires in the Messages wire.
import type { MemberRule, SupportTraits } from '../chat/chat-traits.js';
import { stopAsList, writtenElsewhere } from '../chat/member-rules.js';
import type { ChatCall } from '../chat-wire.js';
import { thinks } from './thinking.js';

const MOST_TEMPERATURE = 1;

const MEMBERS: Readonly<Record<string, MemberRule>> = {
  temperature: (value, call) => {
    if (!takesSampling('temperature', call)) return 'dropped';
    const isHigh = Number(value.toString()) > MOST_TEMPERATURE;
    return isHigh ? { value: String(MOST_TEMPERATURE), isWeaker: true } : { value };
  },
  top_p: (value, call) => (takesSampling('top_p', call) ? { value } : 'dropped'),
  top_k: (value, call) => (takesSampling('top_k', call) ? { value } : 'dropped'),
  stop: stopAsList('stop_sequences'),
  seed: 'drop',
  frequency_penalty: 'drop',
  presence_penalty: 'drop',
  logit_bias: 'drop',
  top_logprobs: 'drop',
  verbosity: 'drop',
  prediction: 'drop',
  prompt_cache_key: 'drop',
  prompt_cache_options: 'drop',
  prompt_cache_retention: 'drop',
  // Members of other names: define-messages-wire.ts writes them.
  response_format: writtenElsewhere,
  tool_choice: writtenElsewhere,
  parallel_tool_calls: writtenElsewhere,
};

export const MESSAGES_SUPPORT: SupportTraits = {
  protocol: 'messages',
  members: MEMBERS,
  lacks: ['n', 'logprobs', 'response_format', 'grammar', 'python'],
  mediaUrls: 'sent',
  files: 'documents',
};

/** Models that think refuse these settings. */
function takesSampling(name: string, { request, endpoint }: ChatCall): boolean {
  return !thinks(request, endpoint) && endpoint.supportedParameters.includes(name);
}
