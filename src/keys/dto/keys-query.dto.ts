// The query of GET /keys. Contract: docs/contract.md#api-keys.
import { IntegerField, QueryFlagField, WorkspaceIdField } from '../../http/fields/scalar-fields.js';

export class KeysQueryDto {
  @QueryFlagField({ default: false, description: 'Whether the list includes disabled keys.' })
  include_disabled: boolean = false;

  @IntegerField({ query: true, minimum: 0, maximum: 1_000_000, default: 0 })
  offset = 0;

  @WorkspaceIdField(
    "Default: the account's default workspace. A deleted workspace is allowed: its management keys stay valid.",
  )
  workspace_id?: string;
}
