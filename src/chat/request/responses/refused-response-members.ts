// Members of the Responses wire that this service refuses by name: they keep state, or have no bound.
import { NO_PLUGINS } from '../../dto/refused-members.js';
import type { RefusedMembers } from '../../dto/refused-members.js';

const NO_STATE = 'is not supported: responses are not stored; send the whole conversation in input';

export const REFUSED_RESPONSE_MEMBERS: RefusedMembers = {
  store: { reason: `${NO_STATE}, and store: false`, allows: (value) => value === false },
  previous_response_id: { reason: NO_STATE },
  conversation: { reason: NO_STATE },
  background: { reason: 'is not supported: answers are not kept', allows: (value) => value === false },
  prompt: { reason: 'is not supported: it names a template of an account at OpenAI; send its text' },
  truncation: {
    reason: 'must be disabled: prompts are never cut here',
    allows: (value) => value === 'disabled',
  },
  moderation: { reason: 'is not supported' },
  ...NO_PLUGINS,
};
