// Members of the wire that this service refuses by name: ignoring them would change answers or costs in silence.
import { AppError } from '../../domain/errors.js';
import { isArray, isObject } from '../../domain/members.js';

type Members = Readonly<Record<string, unknown>>;

const DEPRECATED = 'is deprecated; use tools and tool_choice';
const NO_FEES = 'is not supported: its extra fees have no bound';
const NO_STORAGE = 'is not supported: calls are not stored at providers';
const NO_GENERATED_MEDIA = 'is not supported: answers are text';
const LEGACY = 'belongs to text completions';

/** By name, each with the reason. `allows`: values without an effect. */
export type RefusedMembers = Readonly<
  Record<string, { readonly reason: string; readonly allows?: (value: unknown) => boolean }>
>;

/** Of every wire. */
export const NO_PLUGINS: RefusedMembers = {
  plugins: {
    reason: 'plugins are not supported; only entries with enabled: false are accepted',
    allows: (value) => isArray(value) && value.every(isSwitchedOff),
  },
  transforms: {
    reason: 'must be empty: prompts are never edited',
    allows: (value) => isArray(value) && value.length === 0,
  },
};

const REFUSED: RefusedMembers = {
  functions: { reason: DEPRECATED },
  function_call: { reason: DEPRECATED },
  image_config: { reason: NO_GENERATED_MEDIA },
  audio: { reason: NO_GENERATED_MEDIA },
  web_search_options: { reason: NO_FEES },
  stop_server_tools_when: { reason: NO_FEES },
  debug: { reason: 'is not supported' },
  moderation: { reason: 'is not supported' },
  safety_identifier: { reason: 'is not supported; use user' },
  background: { reason: 'is not supported: answers are not kept', allows: (value) => value === false },
  store: { reason: NO_STORAGE, allows: (value) => value === false },
  echo: { reason: LEGACY },
  best_of: { reason: LEGACY },
  prompt: { reason: `${LEGACY}; use messages` },
  ...NO_PLUGINS,
};

export const REFUSED_NAMES = Object.keys(REFUSED);

/** Throws `invalid_request` with the name of the first such member. Null is absent. */
export function rejectRefusedMembers(body: Members, refused = REFUSED): void {
  for (const [member, { reason, allows }] of Object.entries(refused)) {
    const value = body[member];
    if (value === undefined || value === null || allows?.(value) === true) continue;
    throw new AppError('invalid_request', { member, detail: reason });
  }
}

function isSwitchedOff(entry: unknown): boolean {
  return isObject(entry) && entry['enabled'] === false;
}
