// The answer of POST /embeddings: documented as a class, written as bytes. Contract: docs/contract.md#embeddings-response.
import { Allow } from 'class-validator';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { Pace, YieldQueue } from '../../concurrency/yield-queue.js';
import type { EncodingFormat } from '../../domain/embeddings/embedding.js';
import { modalityCounts } from '../../domain/embeddings/modality.js';
import type { Modality } from '../../domain/embeddings/modality.js';
import { embeddingAnswerId } from '../../domain/identifiers.js';
import type { RoutingMetadata } from '../../domain/providers/routing-metadata.js';
import type { Charge } from '../../domain/spend/charge.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { RoutingMetadataDto, toRoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import { CustomField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField, UsdField } from '../../http/fields/scalar-fields.js';
import { encodeVector } from '../../vectors/vectors.js';
import type { Vector } from '../../vectors/vectors.js';

const TokensField = (): PropertyDecorator => IntegerField({ optional: true, minimum: 1 });

/** Modalities without tokens are absent. */
class PromptTokensDetailsDto implements Partial<Record<`${Modality}_tokens`, number>> {
  @TokensField() text_tokens?: number;
  @TokensField() image_tokens?: number;
  @TokensField() audio_tokens?: number;
  @TokensField() video_tokens?: number;
  @TokensField() file_tokens?: number;
}

/** Undefined for tokens of unknown modalities, and for reported tokens of one modality. */
function toPromptTokensDetailsDto({
  tokensByModality: tokens,
  isEstimated,
}: Pick<Charge, 'tokensByModality' | 'isEstimated'>): PromptTokensDetailsDto | undefined {
  const counts = modalityCounts(tokens ?? {}).filter(([, count]) => count > 0);
  if (counts.length < (isEstimated ? 1 : 2)) return undefined;
  return Object.fromEntries(counts.map(([modality, count]) => [`${modality}_tokens`, count]));
}

class EmbeddingDto {
  @EnumField(['embedding']) object: string;
  @IntegerField({ description: 'Position of the input.' }) index: number;
  @CustomField(
    {
      oneOf: [
        { type: 'array', items: { type: 'number' } },
        { type: 'string', description: 'Little-endian float32 in base64.' },
      ],
    },
    { rules: [Allow()] },
  )
  embedding: number[] | string;
  @EnumField([true], {
    optional: true,
    description:
      'No provider was called for this input, and it costs nothing: its vector was cached, another call was fetching ' +
      'it, or an earlier input is identical. Only with the cache on.',
  })
  cached?: true;
}

class EmbeddingUsageDto {
  @IntegerField({ description: "The provider's count, and at most as many as the inputs can have." })
  prompt_tokens: number;
  @IntegerField({ description: 'Bounded like prompt_tokens.' }) total_tokens: number;
  @UsdField({
    optional: true,
    description: 'USD that the call is charged; absent where no price is known.',
  })
  cost?: number;
  @FlagField({ description: 'Whether an own provider key was used.' }) is_byok: boolean;
  @EnumField([true], {
    optional: true,
    description:
      'The provider reported no usage, and parts that are not text are counted at its fixed rates, or as the limit of ' +
      'an input where it has none.',
  })
  estimated?: true;
  @ObjectField(PromptTokensDetailsDto, {
    optional: true,
    description: 'Only for inputs of several modalities, and with `estimated`.',
  })
  prompt_tokens_details?: PromptTokensDetailsDto;
}

export class EmbeddingResponseDto {
  @EnumField(['list']) object: string;
  @ObjectListField(EmbeddingDto, { description: 'One per input, in the order of the inputs.' })
  data: EmbeddingDto[];
  @TextField() model: string;
  @TextField({ example: 'embd-0193...' }) id: string;
  @TextField({ description: 'The provider that served the call.' }) provider: string;
  @ObjectField(EmbeddingUsageDto) usage: EmbeddingUsageDto;
  @ObjectField(RoutingMetadataDto, {
    optional: true,
    description: 'Only on request by the header X-OpenRouter-Metadata.',
  })
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
  /** Null unless the caller requests it. */
  readonly routingMetadata: RoutingMetadata | null;
}

// A float32 in base64, and as decimals with a comma.
const BYTES_PER_NUMBER = { base64: 16 / 3, float: 14 } as const;

/** An estimate of the memory for the vectors: once as received from providers, and once as sent to the caller. */
export function answerBytes(numbers: number, format: EncodingFormat): number {
  return 2 * numbers * BYTES_PER_NUMBER[format];
}

// Vectors. Larger answers of different accounts alternate.
const LARGE_ANSWER = 512;

export async function paceOfAnswer(vectors: number, queue: YieldQueue, accountId: string): Promise<Pace> {
  if (vectors <= LARGE_ANSWER) return NEVER_YIELD;
  await queue.enter(accountId);
  return queue.begin(accountId);
}

// Bytes. A shorter vector is copied: a piece of its own costs more.
const COPIED_BYTES = 2_048;

/**
 * The body in pieces. Vectors that already have the requested form are not parsed, and long ones are not copied. Yields by
 * `pace`.
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
  // JSON.stringify omits undefined members.
  const rest = JSON.stringify({
    model: answer.model,
    id: embeddingAnswerId(answer.generationId),
    provider: answer.provider,
    usage: {
      prompt_tokens: charge.promptTokens,
      total_tokens: charge.totalTokens,
      cost: charge.cost === null ? undefined : usdToNumber(charge.cost),
      is_byok: charge.isByok,
      estimated: charge.isEstimated ? true : undefined,
      prompt_tokens_details: toPromptTokensDetailsDto(charge),
    },
    openrouter_metadata: routingMetadata === null ? undefined : toRoutingMetadataDto(routingMetadata),
  });
  pieces.push(Buffer.from(`${text.slice(0, -1)}],${rest.slice(1)}`));
  return pieces;
}
