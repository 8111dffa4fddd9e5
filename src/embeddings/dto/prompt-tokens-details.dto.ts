// `usage.prompt_tokens_details`: the tokens of an input by modality. Contract: docs/contract.md#embeddings-response.
import { modalityCounts } from '../../domain/embeddings/modality.js';
import type { Modality, TokensByModality } from '../../domain/embeddings/modality.js';
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

/** Undefined for tokens of one modality or of unknown modalities. */
export function toPromptTokensDetailsDto(
  tokens: TokensByModality | null,
): PromptTokensDetailsDto | undefined {
  const counts = modalityCounts(tokens ?? {}).filter(([, count]) => count > 0);
  if (counts.length < 2) return undefined;
  return Object.fromEntries(counts.map(([modality, count]) => [`${modality}_tokens`, count]));
}
