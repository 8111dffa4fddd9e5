// The answer of POST /rerank. Contract: docs/contract.md#rerank.
import { generationHeaderId } from '../../domain/identifiers.js';
import type { RoutingMetadata } from '../../domain/providers/routing-metadata.js';
import type { RankedDocument } from '../../domain/rerank/rerank.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { RoutingMetadataDto, toRoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import { ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  NumberField,
  TextField,
  UsdField,
} from '../../http/fields/scalar-fields.js';
import type { RerankCharge } from '../charges/rerank-charge.js';
import type { RerankDocumentDto } from './create-rerank.dto.js';

class RankedDocumentDto {
  @TextField({ optional: true }) text?: string;
  @TextField({ optional: true }) image?: string;
}

class RerankResultDto {
  @IntegerField({ description: 'Position of the document in the request.' }) index: number;
  @NumberField({ description: "The model's own score. Scores of different models cannot be compared." })
  relevance_score: number;
  @ObjectField(RankedDocumentDto, { description: "The request's own document." }) document: RankedDocumentDto;
}

class RerankUsageDto {
  @IntegerField({ optional: true, description: 'Absent where the price is one of tokens.' })
  search_units?: number;
  @IntegerField({
    optional: true,
    description: 'Absent where the provider reports none and the price needs none.',
  })
  total_tokens?: number;
  @UsdField({ optional: true, description: 'USD that the call is charged; absent where no price is known.' })
  cost?: number;
  @FlagField({ description: 'Whether an own provider key was used.' }) is_byok: boolean;
  @EnumField(['reported', 'counted'], {
    description: 'Whether the provider reported the billed quantity, or it was counted here.',
  })
  source: string;
}

export class RerankResponseDto {
  @TextField({ example: 'gen-0193...' }) id: string;
  @TextField() model: string;
  @TextField({ description: 'The provider that served the call.' }) provider: string;
  @ObjectListField(RerankResultDto, { description: 'The best first, at most top_n.' })
  results: RerankResultDto[];
  @ObjectField(RerankUsageDto) usage: RerankUsageDto;
  @ObjectField(RoutingMetadataDto, {
    optional: true,
    description: 'Only on request by the header X-OpenRouter-Metadata.',
  })
  openrouter_metadata?: RoutingMetadataDto;
}

export interface RerankResult {
  readonly generationId: string;
  readonly model: string;
  readonly provider: string;
  /** The best first. */
  readonly results: readonly RankedDocument[];
  readonly charge: RerankCharge;
  /** Null unless the caller requests it. */
  readonly routingMetadata: RoutingMetadata | null;
}

export function toRerankResponseDto(
  { generationId, model, provider, results, charge, routingMetadata }: RerankResult,
  documents: readonly RerankDocumentDto[],
): RerankResponseDto {
  const { searchUnits, totalTokens, cost, isByok, usageSource } = charge;
  return {
    id: generationHeaderId(generationId),
    model,
    provider,
    results: results.map(({ index, score }) => {
      const document = documents[index] ?? '';
      return {
        index,
        relevance_score: score,
        document: typeof document === 'string' ? { text: document } : document,
      };
    }),
    usage: {
      ...(searchUnits !== null && { search_units: searchUnits }),
      ...(totalTokens > 0 && { total_tokens: totalTokens }),
      ...(cost !== null && { cost: usdToNumber(cost) }),
      is_byok: isByok,
      source: usageSource,
    },
    ...(routingMetadata !== null && { openrouter_metadata: toRoutingMetadataDto(routingMetadata) }),
  };
}
