// The query of GET /observability/destinations/{id}/dead-letters.
// Contract: docs/contract.md#delivery-operations.
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { TextField } from '../../http/fields/scalar-fields.js';

export class DeadLettersQueryDto extends PageQueryDto {
  @TextField({
    optional: true,
    hiddenMaxLength: 200,
    description:
      'The `next_cursor` of the previous page. Continues behind it, regardless of later dead letters. Replaces `offset`.',
  })
  cursor?: string;
}
