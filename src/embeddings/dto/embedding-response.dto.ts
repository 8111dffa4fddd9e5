// The answer of POST /embeddings: documented as a class, written as bytes. Source: contract 4.2.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { EncodingFormat } from '../../domain/embeddings/embedding.js';
import { embeddingAnswerId } from '../../domain/identifiers.js';
import { usdToNumber } from '../../domain/spend/money.js';
import type { RoutingMetadata } from '../../domain/embeddings/routing-metadata.js';
import { encodeVector } from '../../vectors/vectors.js';
import type { Vector } from '../../vectors/vectors.js';
import { RoutingMetadataDto, toRoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import { PromptTokensDetailsDto, toPromptTokensDetailsDto } from './prompt-tokens-details.dto.js';
import type { Charge } from '../charges/call-cost.js';

class EmbeddingDto {
  @ApiProperty({ enum: ['embedding'] })
  object: string;

  @ApiProperty({ type: 'integer', description: 'Position of the input.' })
  index: number;

  @ApiProperty({
    oneOf: [
      { type: 'array', items: { type: 'number' } },
      { type: 'string', description: 'Little-endian float32 in base64.' },
    ],
  })
  embedding: number[] | string;

  @ApiPropertyOptional({
    enum: [true],
    description:
      'No provider was asked for this input and it costs nothing: its vector was kept, another call was fetching it, or ' +
      'the same input stands further up. Only where the cache is on.',
  })
  cached?: true;
}

class EmbeddingUsageDto {
  @ApiProperty({
    type: 'integer',
    description: 'As the provider counts them, and at most as many as the inputs can have.',
  })
  prompt_tokens: number;

  @ApiProperty({ type: 'integer', description: 'Bounded like prompt_tokens.' })
  total_tokens: number;

  @ApiPropertyOptional({ description: 'USD that the call is charged; absent where no price is known.' })
  cost?: number;

  @ApiProperty({ description: 'Whether an own provider key was used.' })
  is_byok: boolean;

  @ApiPropertyOptional({ description: 'Only for inputs of several modalities.' })
  prompt_tokens_details?: PromptTokensDetailsDto;
}

export class EmbeddingResponseDto {
  @ApiProperty({ enum: ['list'] })
  object: string;

  @ApiProperty({ type: [EmbeddingDto], description: 'One per input, in the order of the inputs.' })
  data: EmbeddingDto[];

  @ApiProperty()
  model: string;

  @ApiProperty({ example: 'embd-0193...' })
  id: string;

  @ApiProperty({ description: 'Who served the call.' })
  provider: string;

  @ApiProperty()
  usage: EmbeddingUsageDto;

  @ApiPropertyOptional({ description: 'Only where the header X-OpenRouter-Metadata asks for it.' })
  openrouter_metadata?: RoutingMetadataDto;
}

export interface AnsweredVector {
  readonly vector: Vector;
  /** No provider was called for this input: another call or an identical input of this call brought the vector. */
  readonly isCached: boolean;
}

export interface EmbeddingAnswer {
  readonly generationId: string;
  readonly model: string;
  readonly provider: string;
  readonly vectors: readonly AnsweredVector[];
  readonly charge: Charge;
  /** Null unless the caller has asked for it. */
  readonly routingMetadata: RoutingMetadata | null;
}

// Bytes. A shorter vector is copied: a piece of its own costs more.
const COPIED_BYTES = 2_048;

/**
 * The body in pieces: vectors that already have the wanted form are not parsed, and long ones are not copied. Writes in
 * the pieces of `pace`.
 */
export async function writeEmbeddingResponse(
  answer: EmbeddingAnswer,
  format: EncodingFormat,
  pace: Pace,
): Promise<Buffer[]> {
  const quote = format === 'base64' ? '"' : '';
  const pieces: Buffer[] = [];
  let text = '{"object":"list","data":[';
  for (const [index, { vector, isCached }] of answer.vectors.entries()) {
    text += `{"object":"embedding","index":${index},"embedding":${quote}`;
    const encoded = encodeVector(vector, format);
    if (encoded.length <= COPIED_BYTES) {
      text += encoded.toString('latin1');
    } else {
      pieces.push(Buffer.from(text, 'latin1'), encoded);
      text = '';
    }
    text += isCached ? `${quote},"cached":true},` : `${quote}},`;
    if (pace.isDue) await pace.yieldNow();
  }
  const { charge, routingMetadata } = answer;
  // What is undefined is left out.
  const rest = JSON.stringify({
    model: answer.model,
    id: embeddingAnswerId(answer.generationId),
    provider: answer.provider,
    usage: {
      prompt_tokens: charge.promptTokens,
      total_tokens: charge.totalTokens,
      cost: charge.cost === null ? undefined : usdToNumber(charge.cost),
      is_byok: charge.isByok,
      prompt_tokens_details: toPromptTokensDetailsDto(charge.tokensByModality),
    },
    openrouter_metadata: routingMetadata === null ? undefined : toRoutingMetadataDto(routingMetadata),
  });
  pieces.push(Buffer.from(`${text.slice(0, -1)}],${rest.slice(1)}`));
  return pieces;
}
