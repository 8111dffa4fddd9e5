// `usage.prompt_tokens_details`: the tokens of an input by modality. Contract: docs/contract.md#embeddings-response.
import { modalityCounts } from '../../domain/embeddings/modality.js';
import type { Modality } from '../../domain/embeddings/modality.js';
import type { Charge } from '../../domain/spend/charge.js';
import { IntegerField } from '../../http/fields/scalar-fields.js';

const TokensField = (): PropertyDecorator => IntegerField({ optional: true, minimum: 1 });

/** Modalities without tokens are absent. */
export class PromptTokensDetailsDto implements Partial<Record<`${Modality}_tokens`, number>> {
  @TokensField() text_tokens?: number;
  @TokensField() image_tokens?: number;
  @TokensField() audio_tokens?: number;
  @TokensField() video_tokens?: number;
  @TokensField() file_tokens?: number;
}

/** Undefined for tokens of unknown modalities, and for reported tokens of one modality. */
export function toPromptTokensDetailsDto({
  tokensByModality: tokens,
  isEstimated,
}: Pick<Charge, 'tokensByModality' | 'isEstimated'>): PromptTokensDetailsDto | undefined {
  const counts = modalityCounts(tokens ?? {}).filter(([, count]) => count > 0);
  if (counts.length < (isEstimated ? 1 : 2)) return undefined;
  return Object.fromEntries(counts.map(([modality, count]) => [`${modality}_tokens`, count]));
}
