// The queries of the lists of models. Contract: docs/contract.md#models.
import { FormattedField, IntegerField } from '../../http/fields/scalar-fields.js';
import { IgnoresUnknownMembers } from '../../http/fields/validation.pipe.js';

// This service serves the contract's embeddings only; a list of another modality is empty.
const MODALITIES = ['text', 'image', 'audio', 'video', 'speech', 'transcription', 'rerank', 'embeddings'];
const ONE = `(${MODALITIES.join('|')})`;
const MAX_OFFSET = 1_000_000;
const MAX_LIMIT = 1_000;

// Without initialisers: both absent is the whole list.
const OffsetField = (): PropertyDecorator =>
  IntegerField({ query: true, minimum: 0, hiddenMaximum: MAX_OFFSET, default: 0 });
const LimitField = (): PropertyDecorator =>
  IntegerField({
    query: true,
    minimum: 1,
    maximum: MAX_LIMIT,
    rangeMessage: `must be from 1 to ${MAX_LIMIT}`,
    default: 500,
  });

@IgnoresUnknownMembers()
export class EmbeddingModelsQueryDto {
  @OffsetField() offset?: number;
  @LimitField() limit?: number;
}

export class ModelCountQueryDto {
  @FormattedField({
    default: 'text',
    example: 'embeddings',
    description: `all, or a list of these, joined by commas: ${MODALITIES.join(', ')}. This service has embeddings only.`,
    pattern: new RegExp(`^(all|${ONE}(,${ONE})*)$`),
    message: `must be all, or some of ${MODALITIES.join(', ')}, joined by commas`,
  })
  output_modalities: string = 'text';

  /** Whether the query selects models of embeddings. */
  static includesEmbeddings({ output_modalities: modalities }: ModelCountQueryDto): boolean {
    return modalities.split(',').some((modality) => modality === 'all' || modality === 'embeddings');
  }
}

export class ModelsQueryDto extends ModelCountQueryDto {
  @OffsetField() offset?: number;
  @LimitField() limit?: number;
}
