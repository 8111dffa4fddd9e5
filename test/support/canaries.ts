// Words that are found again wherever they end up, put into every place where callers and providers use their own.
import { gunzipSync } from 'node:zlib';
import type { DeliveryRequest } from '../../src/destination-kinds/shared/delivery.js';
import type { EmbeddingInput } from '../../src/domain/embeddings/embedding.js';
import type { GenerationCandidate } from '../../src/domain/generations/generation-candidate.js';
import { contentOf } from '../../src/domain/generations/generation-content.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import { createCandidate } from './generation-candidate.js';

/** Only letters and digits: no encoding of text changes it. The same beginning in all of them. */
export const canary = (member: string): string => `canary${member}7f3a9c`;
const CANARY = /canary\w+?7f3a9c/gi;

/** Token ids that nothing else looks like. */
export const TOKEN_CANARIES = [90_417_364, 80_550_193];

const INPUTS: Readonly<Record<string, EmbeddingInput>> = {
  texts: { form: 'texts', items: [`before ${canary('Text')} after`, canary('SecondText')] },
  tokens: { form: 'tokens', items: [TOKEN_CANARIES] },
  'multimodal items': {
    form: 'multimodal',
    items: [
      {
        content: [
          { type: 'text', text: canary('TextPart') },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${canary('Image')}` } },
          { type: 'input_file', input_file: { data: canary('File') }, text: canary('Unexpected') },
        ],
      },
    ],
  },
};

const FAILURE: Partial<Generation> = {
  status: 502,
  errorType: 'provider_unavailable',
  promptTokens: 0,
  totalTokens: 0,
  dimensions: null,
  attempts: [
    { provider: 'azure', endpoint: 'azure/e', status: 500, errorType: 'failed', durationMs: 3 },
    { provider: 'openai', endpoint: 'openai/e', status: null, errorType: 'timeout', durationMs: 30 },
  ],
};

/** Calls with canaries in their texts, each under the name of what is special about it. */
export const CANARY_CALLS: readonly (readonly [name: string, candidate: GenerationCandidate])[] =
  Object.entries(INPUTS).flatMap(([form, input]) => [
    [`a success with ${form}`, plant(input, null, {})] as const,
    [`a failure with ${form}`, plant(input, `Provider said: ${canary('Error')}`, FAILURE)] as const,
  ]);

function plant(
  input: EmbeddingInput,
  errorMessage: string | null,
  overrides: Partial<Generation>,
): GenerationCandidate {
  return createCandidate({
    content: contentOf(input, errorMessage),
    generation: {
      ...overrides,
      userId: 'customer-7',
      sessionId: 'session-9',
      inputType: canary('InputType'),
      upstreamId: `said ${canary('UpstreamId')}`,
      requestContext: {
        userAgent: canary('UserAgent'),
        referer: `https://${canary('Referer')}.example.com/`,
        title: canary('Title'),
      },
      trace: {
        trace_id: canary('TraceId'),
        trace_name: canary('TraceName'),
        span_name: canary('SpanName'),
        generation_name: canary('GenerationName'),
        parent_span_id: canary('ParentSpanId'),
        environment: canary('Environment'),
        [canary('Key')]: 'ordinary',
        nested: { [canary('NestedKey')]: [{ deep: canary('Nested') }] },
        toString: canary('Inherited'),
      },
    },
  });
}

/** Every place whose words stand in a text, in any of the forms that texts are sent in. */
export function canariesIn(text: string): string[] {
  const decoded = (text.match(/[\w+/-]{16,}={0,2}/g) ?? []).flatMap(decodings);
  const found = [text, ...decoded].flatMap((form) => form.match(CANARY) ?? []);
  const tokens = TOKEN_CANARIES.map(String).filter((token) => text.includes(token));
  return [...new Set([...found.map((word) => word.toLowerCase()), ...tokens])];
}

/** The texts that a run of letters and digits encodes as base64 or hex, at any offset in a group of four. */
function decodings(run: string): string[] {
  return [
    ...[0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString('latin1')),
    Buffer.from(run, 'hex').toString('latin1'),
  ];
}

/** All that leaves with a request, readable. */
export function readableRequest({ method, url, headers, body = '' }: DeliveryRequest): string {
  const bytes = Buffer.from(body);
  const isCompressed = bytes.length > 2 && bytes.readUInt16BE(0) === 0x1f8b;
  return [
    method,
    url,
    JSON.stringify(headers),
    (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8'),
  ].join('\n');
}
