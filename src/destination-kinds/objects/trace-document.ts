// The JSON object of a trace in an object store: the trace and its one observation.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { levelOf } from '../otlp/attributes.js';
import { isChat, settingsOf, usageOf } from '../shared/chat-forms.js';
import type { ChatTrace } from '../shared/chat-forms.js';
import { completionTokensOf } from '../shared/trace-json.js';
import { attributesOf, inputOf, metadataOf, outputOf, parametersOf } from '../tables/json-columns.js';

export function traceDocument(trace: GenerationTrace): object {
  const { startedAt, endedAt, promptTokens, totalTokens } = trace;
  const metadata = metadataOf(trace);
  return {
    id: trace.callerTraceId ?? trace.traceId,
    name: trace.traceName ?? trace.spanName,
    userId: trace.userId,
    sessionId: trace.sessionId,
    timestamp: startedAt,
    metadata,
    observations: [
      {
        id: trace.spanId,
        generationId: generationHeaderId(trace.generationId),
        traceId: trace.traceId,
        parentId: trace.parentSpanId,
        type: 'GENERATION',
        name: trace.spanName,
        startTime: startedAt,
        endTime: endedAt,
        durationMs: trace.durationMs,
        level: levelOf(trace),
        status: trace.error === null ? 'ok' : 'error',
        apiKeyName: trace.apiKeyName,
        model: trace.model,
        provider: trace.provider,
        modelParameters: parametersOf(trace),
        input: inputOf(trace),
        output: outputOf(trace),
        usage: {
          input: promptTokens,
          output: completionTokensOf(trace),
          total: totalTokens,
          ...(isChat(trace) ? usageOf(trace) : {}),
        },
        cost: trace.cost,
        ...(isChat(trace) ? chatMembers(trace) : {}),
        metadata,
        attributes: attributesOf(trace),
      },
    ],
  };
}

function chatMembers({ operation, chat, error }: ChatTrace): object {
  return {
    operation,
    parameters: settingsOf(chat),
    finish_reason: error === null ? chat.finishReason : 'error',
    native_finish_reason: chat.nativeFinishReason,
    time_to_first_token_ms: chat.timeToFirstTokenMs,
    streamed: chat.isStreamed,
    cancelled: chat.isCancelled,
  };
}
