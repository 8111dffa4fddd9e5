// Writes the bodies of answers while their generations commit, and estimates their size beforehand.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { NEVER_YIELD, YieldQueue } from '../concurrency/yield-queue.js';
import type { EmbeddingRequest, EncodingFormat } from '../domain/embeddings/embedding.js';
import type { Route } from '../routing/route-planner.js';
import { writeEmbeddingResponse } from './dto/embedding-response.dto.js';
import type { EmbeddingAnswer } from './dto/embedding-response.dto.js';

// Vectors. Larger answers of different accounts alternate.
const LARGE_ANSWER = 512;

// A float32 in base64, and as decimals with a comma.
const BYTES_PER_NUMBER = { base64: 16 / 3, float: 14 } as const;

@Injectable()
export class AnswerWriter {
  constructor(private readonly yieldQueue: YieldQueue) {}

  /**
   * Starts after the iteration of the event loop that appends the generation: the log sends its statement at the end of
   * that iteration, and PostgreSQL commits while this process writes.
   */
  async write(answer: EmbeddingAnswer, format: EncodingFormat, accountId: string): Promise<Buffer[]> {
    if (answer.vectors.length <= LARGE_ANSWER) {
      await nextTurn();
      return writeEmbeddingResponse(answer, format, NEVER_YIELD);
    }
    await this.yieldQueue.enter(accountId);
    return writeEmbeddingResponse(answer, format, this.yieldQueue.begin(accountId));
  }
}

/** An estimate of the memory for the vectors: once as received from providers, and once as sent to the caller. */
export function answerBytes(
  { input, dimensions, encodingFormat }: EmbeddingRequest,
  { targets }: Route,
): number {
  const width = dimensions ?? targets[0]?.model.nativeDimensions ?? 0;
  return 2 * input.items.length * width * BYTES_PER_NUMBER[encodingFormat];
}
