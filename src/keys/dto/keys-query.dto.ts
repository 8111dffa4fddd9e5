// The query of GET /keys. Contract: docs/contract.md#api-keys.
import {
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

  @TextField({
    optional: true,
    maxLength: MAX_PART_LENGTH,
    description: 'Only keys whose name contains this text, in upper or lower case.',
  })
  q?: string;
}
