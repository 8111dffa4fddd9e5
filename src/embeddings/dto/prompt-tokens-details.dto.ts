// The member `usage.prompt_tokens_details`: what the tokens of an input of several modalities are of. Source: contract 4.2.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { modalityCounts } from '../../domain/embeddings/modality.js';
import type { Modality, TokensByModality } from '../../domain/embeddings/modality.js';

const Tokens = (): PropertyDecorator => ApiPropertyOptional({ type: 'integer', minimum: 1 });

/** Those that are not zero. */
export class PromptTokensDetailsDto implements Partial<Record<`${Modality}_tokens`, number>> {
  @Tokens() text_tokens?: number;
  @Tokens() image_tokens?: number;
  @Tokens() audio_tokens?: number;
  @Tokens() video_tokens?: number;
  @Tokens() file_tokens?: number;
}

/** Undefined for tokens of one modality, and where it is not known what they are of. */
export function toPromptTokensDetailsDto(
  tokens: TokensByModality | null,
): PromptTokensDetailsDto | undefined {
  const counts = modalityCounts(tokens ?? {}).filter(([, count]) => count > 0);
  if (counts.length < 2) return undefined;
  return Object.fromEntries(counts.map(([modality, count]) => [`${modality}_tokens`, count]));
}
