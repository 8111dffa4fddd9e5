// Members of the Messages wire that this service refuses by name: they change the price of a call, or keep state at the provider.
import { AppError } from '../../../domain/errors.js';
import { isArray, isObject } from '../../../domain/members.js';

const NO_PRICE =
  'is not supported: it changes the price of a call in a way that the catalogue does not state';
const NO_STATE = 'is not supported: it keeps state at the provider, which has no owner here';

const REFUSED: Readonly<
  Record<string, { readonly reason: string; readonly allows: (value: unknown) => boolean }>
> = {
  speed: { reason: NO_PRICE, allows: (value) => value === 'standard' },
  inference_geo: { reason: NO_PRICE, allows: (value) => value === 'global' },
  service_tier: { reason: NO_PRICE, allows: (value) => value === 'auto' || value === 'standard_only' },
  container: { reason: NO_STATE, allows: () => false },
  mcp_servers: {
    reason: 'is not supported: it calls servers outside of the bound of a call',
    allows: (value) => isArray(value) && value.length === 0,
  },
  thread: { reason: NO_STATE, allows: () => false },
  context_management: {
    reason: 'compaction is not supported: it makes tokens outside of the bound of a call',
    allows: (value) => !compacts(value),
  },
  plugins: {
    reason: 'plugins are not supported; only entries with enabled: false are accepted',
    allows: (value) =>
      isArray(value) && value.every((entry) => isObject(entry) && entry['enabled'] === false),
  },
  transforms: {
    reason: 'must be empty: prompts are never edited',
    allows: (value) => isArray(value) && value.length === 0,
  },
};

/** Throws `invalid_request` with the name of the first such member. Null is absent. */
export function rejectRefusedMessageMembers(body: Readonly<Record<string, unknown>>): void {
  for (const [member, { reason, allows }] of Object.entries(REFUSED)) {
    const value = body[member];
    if (value === undefined || value === null || allows(value)) continue;
    throw new AppError('invalid_request', { member, detail: reason });
  }
}

function compacts(value: unknown): boolean {
  const edits = isObject(value) ? value['edits'] : null;
  return (isArray(edits) ? edits : []).some(
    (edit) => isObject(edit) && String(edit['type']).startsWith('compact_'),
  );
}
