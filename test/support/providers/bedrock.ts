// Amazon Bedrock's InvokeModel for Titan text embeddings and for Cohere's. Source: AWS' user guide; messages as users
// quote them (bifrost #3471, paperless-iq PR 21, dify plugins PR 3389 on GitHub).
import {
  defineProviderStub,
  findMemberProblem,
  isFlag,
  isOneOf,
  isText,
  isTexts,
  isWidth,
} from './provider-stub.js';
import type { MemberRules, ProviderStub, StubReply, StubRequest } from './provider-stub.js';
import { isCoherePart, isDataUrl, isInputs } from './cohere.js';
import { findSignatureProblem } from './signature-v4.js';
import { countAllTokens, countTokens, vectorOf } from './vectors.js';

const ACCESS_KEY_ID = 'AKIASTUB';
const SECRET_ACCESS_KEY = 'stub/secret+key';
export const SESSION_TOKEN = 'stub-session-token';
export const BEDROCK_API_KEY = 'ABSKc3R1Yg==';
const MAX_COHERE_INPUTS = 96;
const MAX_CHARACTERS_OF_V3 = 2_048;
const MAX_TITAN_CHARACTERS = 50_000;
const REQUEST_ID = { 'x-amzn-requestid': '7a3c2f1e-0000-4000-8000-000000000000' };

const reject = (status: number, name: string, message: string): StubReply => ({
  status,
  body: { message },
  headers: {
    ...REQUEST_ID,
    'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  },
});
const malformed = (problem: string): StubReply =>
  reject(
    400,
    'ValidationException',
    `Malformed input request: ${problem}, please reformat your input and try again.`,
  );

interface BedrockModel {
  readonly width: number;
  readonly rules: MemberRules;
  readonly answer: (body: Record<string, unknown>, width: number) => StubReply;
}

const COHERE_INPUT_TYPES = isOneOf(
  'search_document',
  'search_query',
  'classification',
  'clustering',
  'image',
);
const isTypes = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isOneOf('float', 'int8', 'binary'));

const MODELS: Readonly<Record<string, BedrockModel>> = {
  'amazon.titan-embed-text-v2:0': {
    width: 1024,
    rules: {
      required: { inputText: isText },
      optional: { dimensions: isOneOf(256, 512, 1024), normalize: isFlag, embeddingTypes: isTypes },
      unknown: 'refused',
    },
    answer: answerTitan,
  },
  'amazon.titan-embed-text-v1': {
    width: 1536,
    rules: { required: { inputText: isText }, optional: {}, unknown: 'refused' },
    answer: answerTitan,
  },
  'cohere.embed-v4:0': {
    width: 1536,
    rules: {
      required: { input_type: COHERE_INPUT_TYPES },
      optional: {
        texts: isTexts,
        inputs: isInputs(isCoherePart(isDataUrl)),
        embedding_types: isTypes,
        output_dimension: isOneOf(256, 512, 1024, 1536),
        max_tokens: isWidth(1, 128_000),
        truncate: isOneOf('NONE', 'LEFT', 'RIGHT'),
      },
      unknown: 'refused',
    },
    answer: answerCohere,
  },
  'cohere.embed-english-v3': {
    width: 1024,
    rules: {
      required: { input_type: COHERE_INPUT_TYPES, texts: isTexts },
      optional: { embedding_types: isTypes, truncate: isOneOf('NONE', 'START', 'END') },
      unknown: 'refused',
    },
    answer: answerCohere,
  },
};

export const bedrockStub: ProviderStub = defineProviderStub({
  slug: 'bedrock',
  apiKey: `${ACCESS_KEY_ID}:${SECRET_ACCESS_KEY}`,
  models: [
    'amazon.titan-embed-text-v2:0',
    'amazon.titan-embed-text-v1',
    'cohere.embed-v4:0',
    'cohere.embed-english-v3',
  ],
  nativeWidth: 1024,
  maxInputs: 1,
  basePath: '',
  failures: {
    rateLimited: reject(429, 'ThrottlingException', 'Too many requests, please wait before trying again.'),
    overloaded: reject(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'),
    broken: reject(500, 'InternalServerException', 'The system encountered an unexpected error.'),
    invalid: reject(
      400,
      'ValidationException',
      '400 Bad Request: Too many input tokens. Max input tokens: 8192',
    ),
  },
  answer(request) {
    const name = /^\/model\/([^/]+)\/invoke$/.exec(request.path)?.[1];
    if (request.method !== 'POST' || name === undefined) return reject(404, 'UnknownOperationException', '');
    const forbidden = findCredentialProblem(request);
    if (forbidden) return forbidden;
    const model = MODELS[decodeURIComponent(name)];
    if (!model) return reject(400, 'ValidationException', 'The provided model identifier is invalid.');
    const found = findMemberProblem(request.body, model.rules);
    if (found?.problem === 'unknown') return malformed(`#: extraneous key [${found.name}] is not permitted`);
    if (found?.problem === 'missing') return malformed(`#: required key [${found.name}] not found`);
    if (found) return malformed(`#/${found.name}: not a valid value`);
    return model.answer(request.body, model.width);
  },
});

function findCredentialProblem(request: StubRequest): StubReply | null {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    return reject(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
  }
  if (authorization.startsWith('Bearer ')) {
    if (authorization === `Bearer ${BEDROCK_API_KEY}`) return null;
    return reject(
      403,
      'AccessDeniedException',
      'Authentication failed: Please make sure your API Key is valid.',
    );
  }
  if (!authorization.includes(`Credential=${ACCESS_KEY_ID}/`)) {
    const message = 'The security token included in the request is invalid.';
    return reject(403, 'UnrecognizedClientException', message);
  }
  const problem = findSignatureProblem(request, {
    secretAccessKey: SECRET_ACCESS_KEY,
    sessionToken: SESSION_TOKEN,
    service: 'bedrock',
  });
  return problem === null ? null : reject(403, 'InvalidSignatureException', problem);
}

function answerTitan(body: Record<string, unknown>, fullWidth: number): StubReply {
  const text = String(body['inputText']);
  if (text.length > MAX_TITAN_CHARACTERS) {
    return malformed(`expected maxLength: ${MAX_TITAN_CHARACTERS}, actual: ${text.length}`);
  }
  const embedding = vectorOf(text, fullWidth, body['dimensions'] as number | undefined);
  const count = countTokens(text);
  return {
    status: 200,
    body: { embedding, embeddingsByType: { float: embedding }, inputTextTokenCount: count },
    headers: { ...REQUEST_ID, 'x-amzn-bedrock-input-token-count': String(count) },
  };
}

/** The newer model answers by type; the older one does so only when it is asked for types. */
function answerCohere(body: Record<string, unknown>, fullWidth: number): StubReply {
  const { texts, inputs } = body as { texts?: string[]; inputs?: { content: { text?: string }[] }[] };
  const contents = texts ?? inputs ?? [];
  if (contents.length === 0) return malformed('#: one of texts, images, inputs is required');
  if (contents.length > MAX_COHERE_INPUTS) {
    return malformed(`#/texts: expected maximum item count: ${MAX_COHERE_INPUTS}, found: ${contents.length}`);
  }
  const lengths = fullWidth === 1024 ? (texts ?? []).map((text) => Array.from(text).length) : [];
  const tooLong = lengths.findIndex((length) => length > MAX_CHARACTERS_OF_V3);
  if (tooLong !== -1) {
    const actual = String(lengths[tooLong]);
    return malformed(`#/texts/${tooLong}: expected maxLength: ${MAX_CHARACTERS_OF_V3}, actual: ${actual}`);
  }
  const width = body['output_dimension'] as number | undefined;
  const float = contents.map((content) => vectorOf(content, fullWidth, width));
  const isByType = fullWidth === 1536 || 'embedding_types' in body;
  const words =
    texts ?? (inputs ?? []).flatMap(({ content }) => content.map(({ text }) => text ?? ['image']));
  return {
    status: 200,
    body: {
      id: '5807ee2e',
      texts: texts ?? [],
      embeddings: isByType ? { float } : float,
      response_type: isByType ? 'embeddings_by_type' : 'embeddings_floats',
    },
    headers: { ...REQUEST_ID, 'x-amzn-bedrock-input-token-count': String(countAllTokens(words)) },
  };
}
