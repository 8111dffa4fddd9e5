// Google's Gemini API on loopback: refuses what the vendor refuses, and answers what a test scripts. Its answers have the form of
// Google's reference.
import type { ServerResponse } from 'node:http';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubHandler, StubUpstream } from '../upstreams/stub-upstream.js';
import { problemOf } from './gemini-checks.js';

type Members = Readonly<Record<string, unknown>>;

export const GEMINI_KEY = 'AIza-key-of-the-stub';
const PATH = /^\/v1beta\/models\/([\w.-]+):(generateContent|streamGenerateContent\?alt=sse|countTokens)$/;
/** Google takes its key there as well. */
const KEY_IN_QUERY = /(?<=[?&])key=([^&]+)(?:&|$)/;

export interface GeminiStub extends StubUpstream {
  /** Null: the usual answer. */
  answerWith(answer: StubHandler | null): void;
}

export async function startGeminiStub(): Promise<GeminiStub> {
  let scripted: StubHandler | null = null;
  const stub = await startStubUpstream((request, response) => {
    const path = request.path.replace(KEY_IN_QUERY, '').replace(/[?&]$/, '');
    const [, model = '', operation = ''] = PATH.exec(path) ?? [];
    if (operation === '')
      return sendGoogleError(response, 404, 'NOT_FOUND', 'Requested entity was not found.');
    const key = request.headers['x-goog-api-key'] ?? KEY_IN_QUERY.exec(request.path)?.[1];
    if (key !== GEMINI_KEY) return sendGoogleError(response, 400, 'INVALID_ARGUMENT', 'API key not valid.');
    const { body } = request;
    const isCount = operation === 'countTokens';
    const { model: named, ...counted } = (body['generateContentRequest'] ?? {}) as Members;
    if (isCount && named !== `models/${model}`)
      return sendGoogleError(response, 400, 'INVALID_ARGUMENT', 'model is required');
    const problem = problemOf(isCount ? counted : body, model);
    if (problem !== null) return sendGoogleError(response, 400, 'INVALID_ARGUMENT', problem);
    if (isCount) return sendJson(response, 200, { totalTokens: 77 });
    return (scripted ?? answerHello)(request, response);
  });
  return Object.assign(stub, {
    answerWith: (answer: StubHandler | null): void => {
      scripted = answer;
    },
  });
}

export function sendGoogleError(
  response: ServerResponse,
  code: number,
  status: string,
  message: string,
  details: readonly object[] = [],
): void {
  sendJson(response, code, { error: { code, message, status, details } });
}

/** The first chunks of a stream have no candidates' count, and all counts are of the whole answer so far. */
export const USAGE = {
  promptTokenCount: 100,
  candidatesTokenCount: 20,
  totalTokenCount: 420,
  thoughtsTokenCount: 300,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }],
} as const;

export function geminiChunk(parts: readonly object[], more: Members = {}, usage: Members = USAGE): Members {
  const { finishReason, ...top } = more;
  return {
    candidates: [
      {
        ...(parts.length > 0 && { content: { parts, role: 'model' } }),
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    usageMetadata: usage,
    modelVersion: 'gemini-3-stub',
    responseId: 'resp-of-the-stub',
    ...top,
  };
}

export const geminiCall = (name: string, args?: object, more: Members = {}): Members => {
  const { id, ...part } = more;
  return {
    functionCall: { ...(id !== undefined && { id }), name, ...(args && { args }) },
    ...part,
  };
};

export const SIGNATURE = 'c2lnbmF0dXJlLW9mLXRoZS1jYWxs';

/** A thought, a text, and two parallel calls, of which the first is signed. */
export const RICH_CHUNKS: readonly Members[] = [
  geminiChunk([{ text: 'Let me ', thought: true }], {}, { promptTokenCount: 100, totalTokenCount: 100 }),
  geminiChunk([{ text: 'see.', thought: true }]),
  geminiChunk([{ text: 'Hel' }]),
  geminiChunk([{ text: 'lo' }]),
  geminiChunk([
    geminiCall('look_up', { id: 1 }, { id: 'fc-1', thoughtSignature: SIGNATURE }),
    geminiCall('look_up', { id: 2 }, { id: 'fc-2' }),
  ]),
  geminiChunk([{ text: '' }], { finishReason: 'STOP' }),
];

export const WHOLE_ANSWER = geminiChunk(
  [
    { text: 'Let me see.', thought: true },
    { text: 'Hello' },
    geminiCall('look_up', { id: 1 }, { id: 'fc-1', thoughtSignature: SIGNATURE }),
    geminiCall('look_up', { id: 2 }, { id: 'fc-2' }),
  ],
  { finishReason: 'STOP' },
);

export function geminiSse(chunks: readonly object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('');
}

/** As a stream, or whole where the request asks for that. */
export const answerChunks =
  (...chunks: readonly Members[]): StubHandler =>
  (request, response) => {
    if (!request.path.includes('stream')) return sendJson(response, 200, chunks[0]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(geminiSse(chunks));
  };

function answerHello(request: ReceivedRequest, response: ServerResponse): void {
  if (request.path.includes('stream')) void answerChunks(...RICH_CHUNKS)(request, response);
  // Google prints whole answers over several lines.
  else sendJson(response, 200, JSON.stringify(WHOLE_ANSWER, null, 2));
}
