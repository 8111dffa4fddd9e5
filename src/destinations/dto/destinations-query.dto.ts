// The query of GET /observability/destinations. Contract: docs/contract.md#destinations.
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { WorkspaceIdField } from '../../http/fields/scalar-fields.js';

export class DestinationsQueryDto extends PageQueryDto {
  @WorkspaceIdField()
  workspace_id?: string;
}
