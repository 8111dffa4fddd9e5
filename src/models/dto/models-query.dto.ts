// The queries of the lists of all models. Source: contract section 6.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, Matches } from 'class-validator';
import { IfGiven } from '../../http/fields/optional-members.js';

// Of the contract's modalities, only embeddings are made here; a list of another one is empty.
const MODALITIES = ['text', 'image', 'audio', 'video', 'speech', 'transcription', 'rerank', 'embeddings'];
const ONE = `(${MODALITIES.join('|')})`;

export class ModelCountQueryDto {
  @ApiPropertyOptional({
    type: String,
    default: 'text',
    example: 'embeddings',
    description: `all, or a list of these, joined by commas: ${MODALITIES.join(', ')}. Only embeddings are made here.`,
  })
  @IfGiven()
  @Matches(new RegExp(`^(all|${ONE}(,${ONE})*)$`), {
    message: `must be all, or some of ${MODALITIES.join(', ')}, joined by commas`,
  })
  output_modalities: string = 'text';

  /** Whether models of embeddings are asked for. */
  static includesEmbeddings({ output_modalities: modalities }: ModelCountQueryDto): boolean {
    return modalities.split(',').some((modality) => modality === 'all' || modality === 'embeddings');
  }
}

export class ModelsQueryDto extends ModelCountQueryDto {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0 })
  @Allow()
  offset?: unknown;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1000, default: 500 })
  @Allow()
  limit?: unknown;
}
