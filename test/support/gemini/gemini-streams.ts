// Streams in Gemini's wire, with the peculiarities of Google's answers.
import { readGoogleError } from '../../../src/providers/shared/gemini/google-errors.js';
import type { UpstreamStream } from '../chat/upstream-streams.js';
import { geminiCall, geminiChunk, geminiSse, RICH_CHUNKS, SIGNATURE } from './gemini-stub.js';

const end = (...parts: readonly object[]): object => geminiChunk(parts, { finishReason: 'STOP' });

const BODIES: Readonly<Record<string, string | Buffer>> = {
  'a thought, a text and parallel calls': geminiSse(RICH_CHUNKS),
  'escapes and characters of several bytes': geminiSse([
    geminiChunk([{ text: 'é漢😀\n"' }]),
    end({ text: '\\u00e9 \u2028' }),
  ])
    .replaceAll('é', '\\u00e9')
    .replace('😀', '\\ud83d\\ude00'),
  'a signature with an empty text at the end': geminiSse([
    geminiChunk([{ text: 'ok' }]),
    end({ text: '', thoughtSignature: SIGNATURE }),
  ]),
  'a signature without any text': geminiSse([end({ text: '', thoughtSignature: SIGNATURE })]),
  'a call with its digits and spaces': geminiSse([
    end(geminiCall('look_up', {}, { id: 'fc-1', thoughtSignature: SIGNATURE })),
  ]).replace('"args":{}', '"args": { "n" : 12345678901234567890 , "s": " a \\" b ", "x": [1.10, null] }'),
  'calls without arguments': geminiSse([
    geminiChunk([geminiCall('look_up', undefined, { id: 'fc-1' })]),
    end(geminiCall('look_up', {}, { id: 'fc-2' })),
  ]),
  'parts of types without a reader': geminiSse([
    geminiChunk([{ executableCode: { language: 'PYTHON', code: 'print(1)' } }, { text: 'ok' }]),
    end({ inlineData: { mimeType: 'image/png', data: 'aGk=' } }),
  ]),
  'a blocked prompt': geminiSse([
    {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
      responseId: 'r',
    },
  ]),
  'a candidate without content': geminiSse([geminiChunk([], { finishReason: 'MAX_TOKENS' })]),
  'a malformed call': geminiSse([geminiChunk([], { finishReason: 'MALFORMED_FUNCTION_CALL' })]),
  'usage behind the finish, comments, and a mark of the byte order': Buffer.from(
    `\ufeff: hello\n\n${geminiSse([end({ text: 'ok' }), { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } }])}`,
  ),
  'data in several lines, and [DONE]': `${geminiSse([end({ text: 'ok' })]).replaceAll(',"usage', ',\ndata: "usage')}data: [DONE]\n\n`,
  'an error after the first content': geminiSse([
    geminiChunk([{ text: 'Hel' }]),
    { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
  ]),
  'an error in a list': 'data: [{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]\n\n',
  'an end before the finish': geminiSse([geminiChunk([{ text: 'Hel' }])]),
  'an end in the middle of an event': geminiSse([end({ text: 'ok' })]).slice(0, -70),
};

export const GEMINI_STREAMS: readonly UpstreamStream[] = Object.entries(BODIES).map(([name, body]) => ({
  name: `Gemini: ${name}`,
  body: Buffer.from(body as string),
  protocol: 'gemini',
  wire: { readError: readGoogleError },
}));
