// OpenAI's own chat wire, which Azure shares. Unknown members are refused with 400 `unknown_parameter`, and reasoning models
// refuse the sampling members.
import type { ChatTraits } from './chat-traits.js';
import {
  droppedByReasoning,
  NO_OPEN_SAMPLING,
  onlyOneWithReasoning,
  parallelCallsIfListed,
} from './member-rules.js';
import { readUpstreamError } from '../upstream-error.js';

export const OPENAI_CHAT = {
  members: {
    ...NO_OPEN_SAMPLING,
    temperature: onlyOneWithReasoning,
    top_p: onlyOneWithReasoning,
    frequency_penalty: droppedByReasoning,
    presence_penalty: droppedByReasoning,
    stop: droppedByReasoning,
    logit_bias: droppedByReasoning,
    parallel_tool_calls: parallelCallsIfListed,
    cache_control: 'drop',
    service_tier: 'keep',
  },
  messages: {
    developerRole: 'developer',
    names: 'all',
    reasoning: null,
    takesRefusals: true,
    takesOriginalDetail: true,
  },
  reasoningModelsLack: ['logprobs'],
  mediaUrls: 'sent',
  // Chat completions take PDFs alone, and no addresses of them.
  files: 'inline_pdf',
  readError: readUpstreamError,
  // Sources: OpenAI's and OpenRouter's documentation of cancelled streams.
  cancellation: 'stops',
} as const satisfies Partial<ChatTraits>;
