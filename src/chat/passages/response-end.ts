// The end of an answer in the Responses wire: its status by the finish reason (docs/contract.md#responses-answer).
import type { ResponseParts } from '../clients/responses.js';
import { responsesUsage } from '../clients/responses-usage.js';
import type { Answer } from '../kernel/answer.js';
import type { AnswerEnd } from './passage.js';
import type { ItemStatus } from './response-items.js';

type Ended = Pick<ResponseParts, 'status' | 'error' | 'incomplete'>;

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};
const MALFORMED = { code: 'server_error', message: 'The model wrote a malformed tool call' };

/** Of the last item. */
export function lastItemStatus(answer: Answer): ItemStatus {
  return endOf(answer).status === 'completed' ? 'completed' : 'incomplete';
}

export function responseEnd(
  { usage, cost, completedAt, members }: AnswerEnd,
  answer: Answer,
  output: readonly Buffer[],
): ResponseParts {
  const ended = endOf(answer);
  return {
    ...ended,
    output,
    ...(ended.status === 'failed' ? {} : { completedAt }),
    usage: responsesUsage({ usage, cost }),
    serviceTier: answer.tier,
    members,
  };
}

function endOf(answer: Answer): Ended {
  const reason = answer.choices[0]?.finishReason ?? '';
  if (reason === 'error') return { status: 'failed', error: MALFORMED };
  const incomplete = Object.hasOwn(INCOMPLETE, reason) ? INCOMPLETE[reason] : undefined;
  return incomplete === undefined ? { status: 'completed' } : { status: 'incomplete', incomplete };
}
