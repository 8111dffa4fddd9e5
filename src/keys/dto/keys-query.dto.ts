// The query of GET /keys. Contract: docs/contract.md#api-keys.
import { DIRECTIONS, KEY_ORDERS, KEY_STATES } from '../../domain/keys/key-list.js';
import type { KeyOrder, KeyState } from '../../domain/keys/key-list.js';
import {
  EnumField,
  IntegerField,
  LimitField,
  QueryFlagField,
  TextField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';

const MAX_LIMIT = 100;
const MAX_PART_LENGTH = 200;

export class KeysQueryDto {
  @QueryFlagField({ default: false, description: 'Whether the list includes disabled keys.' })
  include_disabled: boolean = false;

  @IntegerField({ query: true, minimum: 0, maximum: 1_000_000, default: 0 })
  offset = 0;

  @LimitField({ maximum: MAX_LIMIT, default: MAX_LIMIT })
  limit = MAX_LIMIT;

  @WorkspaceIdField(
    "Default: the account's default workspace. A deleted workspace is allowed: its management keys stay valid.",
  )
  workspace_id?: string;

  @QueryFlagField({
    default: false,
    description: 'Whether the list has the keys of all workspaces of the account. Replaces `workspace_id`.',
  })
  all_workspaces: boolean = false;

  @TextField({
    optional: true,
    maxLength: MAX_PART_LENGTH,
    description: 'Only keys whose name contains this text, in upper or lower case.',
  })
  q?: string;

  @EnumField(KEY_ORDERS, {
    default: 'created',
    description:
      "`spend`: in the window of the key's limit, of all time without one. `last_used`: keys without a call count as used before all others.",
  })
  sort: KeyOrder = 'created';

  @EnumField(DIRECTIONS, {
    optional: true,
    description: 'Default: `asc` for `name` and `expires`, else `desc`.',
  })
  direction?: (typeof DIRECTIONS)[number];

  @EnumField(KEY_STATES, {
    optional: true,
    description:
      'Only keys that are enabled and `stopped` by a limit, `expiring` within 7 days or `unused` for 30 days, or those that are `disabled`. Replaces `include_disabled`.',
  })
  state?: KeyState;
}
