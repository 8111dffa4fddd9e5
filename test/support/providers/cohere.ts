// Cohere's v2/embed. Source: its OpenAPI document; messages as users quote them.
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isOneOf,
  isText,
  isTexts,
  isWidth,
} from './provider-stub.js';
import type { MemberCheck, ProviderStub, StubReply } from './provider-stub.js';
import { countAllTokens, encode, vectorOf } from './vectors.js';

const MAX_INPUTS = 96;
const WIDTHS_OF_V4 = [256, 512, 1024, 1536];
const WIDTHS: Readonly<Record<string, number>> = { 'embed-v4.0': 1536, 'embed-english-v3.0': 1024 };

const reject = (status: number, message: string): StubReply => ({
  status,
  body: { id: 'b1c2', message },
});

/** Texts, and images whose address is a data URL. */
export const isCoherePart =
  (isImage: MemberCheck): MemberCheck =>
  (part) => {
    const { type, text, image_url: image } = part as Record<string, unknown>;
    return type === 'text' ? isText(text) : type === 'image_url' && isImage(image);
  };
export const isDataUrl: MemberCheck = (value) => typeof value === 'string' && value.startsWith('data:image/');
export const isInputs =
  (isPart: MemberCheck): MemberCheck =>
  (value) =>
    Array.isArray(value) &&
    value.every(
      (input: { content?: unknown }) => Array.isArray(input.content) && input.content.every(isPart),
    );

const isImageObject: MemberCheck = (image) => isDataUrl((image as { url?: unknown } | null)?.url);

export const cohereStub: ProviderStub = defineProviderStub({
  slug: 'cohere',
  apiKey: 'co-stub-key',
  models: ['embed-v4.0', 'embed-english-v3.0'],
  nativeWidth: 1536,
  maxInputs: MAX_INPUTS,
  basePath: '',
  failures: {
    rateLimited: reject(429, 'You are using a Trial key, which is limited to 100 API calls / minute.'),
    overloaded: reject(503, 'service unavailable: please try again'),
    broken: reject(500, 'internal server error, this has been reported to our developers.'),
    invalid: reject(422, 'invalid request: input text is too long'),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v2/embed') return reject(404, 'page not found');
    if (!hasBearer(request, this.apiKey)) return reject(401, 'invalid api token');
    const found = findMemberProblem(body, {
      required: {
        model: isText,
        input_type: isOneOf('search_document', 'search_query', 'classification', 'clustering', 'image'),
      },
      optional: {
        texts: isTexts,
        inputs: isInputs(isCoherePart(isImageObject)),
        embedding_types: (value) => Array.isArray(value) && value.every(isOneOf('float', 'base64', 'int8')),
        output_dimension: isOneOf(...WIDTHS_OF_V4),
        truncate: isOneOf('NONE', 'START', 'END'),
        max_tokens: isWidth(1, 128_000),
        priority: isWidth(0, 999),
      },
      unknown: 'refused',
    });
    if (found?.problem === 'missing') return reject(400, `${found.name} is required`);
    if (found) return reject(400, `invalid request: ${found.name} is not valid`);
    const { texts, inputs, model } = body as {
      texts?: string[];
      inputs?: { content: unknown[] }[];
      model: string;
    };
    const contents = texts ?? inputs ?? [];
    if (contents.length === 0) return reject(400, 'invalid request: valid texts or inputs must be provided');
    if (contents.length > MAX_INPUTS) {
      return reject(400, `invalid request: total number of texts must be at most ${MAX_INPUTS}`);
    }
    const fullWidth = WIDTHS[model];
    if (fullWidth === undefined) return reject(404, `model '${model}' not found`);
    const width = body['output_dimension'] as number | undefined;
    if (width !== undefined && model !== 'embed-v4.0') {
      return reject(400, 'invalid request: output_dimension is not supported by this model');
    }
    const types = (body['embedding_types'] as string[] | undefined) ?? ['float'];
    const embeddings = types.map((type) => [
      type,
      contents.map((content) => encode(vectorOf(content, fullWidth, width), type)),
    ]);
    const parts = (inputs ?? []).flatMap(({ content }) => content as { type: string; text?: string }[]);
    const images = parts.filter(({ type }) => type === 'image_url').length;
    const words = texts ?? parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
    return {
      status: 200,
      body: {
        id: '5807ee2e-0cda-445a-9ec8-864c60a06606',
        texts: texts ?? [],
        embeddings: Object.fromEntries(embeddings) as unknown,
        meta: {
          api_version: { version: '2' },
          billed_units: {
            input_tokens: countAllTokens(words),
            ...(images > 0 ? { images, image_tokens: images * 100 } : {}),
          },
        },
        response_type: 'embeddings_by_type',
      },
    };
  },
});
