// Members of the Messages wire that this service refuses by name: they change the price of a call, or keep state at the provider.
import { isArray, isObject } from '../../../domain/members.js';
import { NO_PLUGINS } from '../../dto/refused-members.js';
import type { RefusedMembers } from '../../dto/refused-members.js';

const NO_PRICE =
  'is not supported: it changes the price of a call in a way that the catalogue does not state';
const NO_STATE = 'is not supported: it keeps state at the provider, which has no owner here';

export const REFUSED_MESSAGE_MEMBERS: RefusedMembers = {
  speed: { reason: NO_PRICE, allows: (value) => value === 'standard' },
  inference_geo: { reason: NO_PRICE, allows: (value) => value === 'global' },
  service_tier: { reason: NO_PRICE, allows: (value) => value === 'auto' || value === 'standard_only' },
  container: { reason: NO_STATE },
  mcp_servers: {
    reason: 'is not supported: it calls servers outside of the bound of a call',
    allows: (value) => isArray(value) && value.length === 0,
  },
  thread: { reason: NO_STATE },
  context_management: {
    reason: 'compaction is not supported: it makes tokens outside of the bound of a call',
    allows: (value) => !compacts(value),
  },
  ...NO_PLUGINS,
};

function compacts(value: unknown): boolean {
  const edits = isObject(value) ? value['edits'] : null;
  return (isArray(edits) ? edits : []).some(
    (edit) => isObject(edit) && String(edit['type']).startsWith('compact_'),
  );
}
