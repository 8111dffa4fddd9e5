// Text Embeddings Inference 1.9.3, both routes: unknown members are passed over. Source: its code of 2026-07.
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isFlag,
  isOneOf,
  isText,
  isTextsOrTokens,
  isWidth,
} from './provider-stub.js';
import type { MemberCheck, ProviderStub, StubReply, StubRequest } from './provider-stub.js';
import { contentsOf, countAllTokens, openAiAnswer, vectorOf } from './vectors.js';

const WIDTH = 384;
const MAX_INPUTS = 32;
const MAX_BYTES = 2_000_000;
const PROMPTS: Readonly<Record<string, string>> = { query: 'query: ', passage: 'passage: ' };

/** The compatible route and the native one name the same things differently. */
const reject = (status: number, type: string, message: string): StubReply => ({
  status,
  body: { message, code: status, type },
});
const rejectNatively = (status: number, type: string, message: string): StubReply => ({
  status,
  body: { error: message, error_type: type },
});
const isOptional =
  (check: MemberCheck): MemberCheck =>
  (value) =>
    value === null || check(value);

export const teiStub: ProviderStub = defineProviderStub({
  slug: 'tei',
  apiKey: 'tei-stub-key',
  models: ['intfloat/multilingual-e5-small'],
  nativeWidth: WIDTH,
  maxInputs: MAX_INPUTS,
  basePath: '',
  failures: {
    rateLimited: reject(429, 'Overloaded', 'Model is overloaded'),
    overloaded: reject(503, 'Unhealthy', 'unhealthy'),
    broken: reject(424, 'Backend', 'backend error: the inference failed'),
    invalid: reject(422, 'Validation', '`inputs` must have less than 512 tokens. Given: 513'),
  },
  answer(request) {
    const { method, path } = request;
    if (method !== 'POST' || !['/v1/embeddings', '/embed'].includes(path)) return { status: 404, body: '' };
    if (!hasBearer(request, this.apiKey)) return { status: 401, body: '' };
    if (request.bytes.length > MAX_BYTES) {
      return { status: 413, body: 'Failed to buffer the request body: length limit exceeded' };
    }
    return path === '/embed' ? answerNatively(request) : answerCompatibly(request);
  },
});

function answerCompatibly({ body }: StubRequest): StubReply {
  const found = findMemberProblem(body, {
    required: { input: isTextsOrTokens },
    optional: {
      model: isOptional(isText),
      user: isOptional(isText),
      encoding_format: isOneOf('float', 'base64'),
      dimensions: isOptional(isWidth(1, WIDTH)),
    },
    unknown: 'ignored',
  });
  if (found)
    return { status: 422, body: `Failed to deserialize the JSON body into the target type: ${found.name}` };
  const contents = contentsOf(body['input']);
  const tooMany = tooManyMessage(contents);
  if (tooMany) return reject(422, 'Validation', tooMany);
  const options = {
    model: 'intfloat/multilingual-e5-small',
    fullWidth: WIDTH,
    width: body['dimensions'],
    format: body['encoding_format'],
  };
  return { status: 200, body: openAiAnswer(contents, options), headers: computeHeaders(contents) };
}

function answerNatively({ body }: StubRequest): StubReply {
  const found = findMemberProblem(body, {
    required: { inputs: isTextsOrTokens },
    optional: {
      truncate: isOptional(isFlag),
      truncation_direction: isOneOf('Left', 'Right', 'left', 'right'),
      prompt_name: isOptional(isText),
      normalize: isFlag,
      dimensions: isOptional(isWidth(1, WIDTH)),
    },
    unknown: 'ignored',
  });
  if (found)
    return { status: 422, body: `Failed to deserialize the JSON body into the target type: ${found.name}` };
  const promptName = body['prompt_name'];
  const prompt = typeof promptName === 'string' ? PROMPTS[promptName] : '';
  if (prompt === undefined) {
    return rejectNatively(
      422,
      'Validation',
      `default-prompt-name \`${String(promptName)}\` not found in the prompts`,
    );
  }
  const contents = contentsOf(body['inputs']);
  const tooMany = tooManyMessage(contents);
  if (tooMany) return rejectNatively(422, 'Validation', tooMany);
  const width = body['dimensions'] as number | undefined;
  return {
    status: 200,
    body: contents.map((content) =>
      vectorOf(typeof content === 'string' ? prompt + content : content, WIDTH, width),
    ),
    headers: computeHeaders(contents),
  };
}

function tooManyMessage(contents: readonly unknown[]): string | null {
  if (contents.length <= MAX_INPUTS) return null;
  return `batch size ${contents.length} > maximum allowed batch size ${MAX_INPUTS}`;
}

function computeHeaders(contents: readonly unknown[]): Record<string, string> {
  return { 'x-compute-type': 'cpu+optimized', 'x-compute-tokens': String(countAllTokens(contents)) };
}
