// POST /observability/destinations/preview. Contract: docs/contract.md#delivery-operations.
import { PickType } from '@nestjs/swagger';
import { IntegerField, UuidField, WorkspaceIdField } from '../../http/fields/scalar-fields.js';
import { UpdateDestinationDto } from './destination-bodies.dto.js';

export class PreviewSelectionDto extends PickType(UpdateDestinationDto, [
  'api_key_hashes',
  'filter_rules',
  'regions',
] as const) {
  @UuidField({
    optional: true,
    description: 'The destination that omitted members and the workspace are taken from.',
  })
  destination_id?: string;

  @WorkspaceIdField()
  workspace_id?: string;
}

export class SelectionPreviewDto {
  @IntegerField({ minimum: 0, description: 'Generations that the rules select.' })
  matched: number;

  @IntegerField({
    minimum: 0,
    description: 'Checked generations, newest first: at most 100, fewer where the rules take long.',
  })
  of: number;

  @IntegerField({
    minimum: 0,
    description:
      'Checked generations without stored contents that no other rule selects. Rules on `input` or `output` do not match them.',
  })
  content_gone: number;
}
