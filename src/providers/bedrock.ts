// Amazon Bedrock: Titan text embeddings, one text per call, Cohere's models, and models of many makers for chats. The
// region comes from the host of BEDROCK_BASE_URL. The key is `accessKeyId:secretAccessKey`,
// `accessKeyId:secretAccessKey:sessionToken`, or a Bedrock API key, which has no colon.
import type { ModelFamilies } from '../domain/providers/provider.js';
import { operationUrl } from './shared/address.js';
import { AwsV4Signer } from 'aws4fetch';
import { partsOfInput, rejectOtherForms, textsOf } from './shared/call-input.js';
import { COHERE_BILLING, cohereBody, readCohereVectors } from './shared/cohere-wire.js';
import { defineConverseWire } from './shared/converse/define-converse-wire.js';
import { BodyAssembly } from './shared/body-assembly.js';
import { defineMessagesWire } from './shared/messages/define-messages-wire.js';
import type { HostedCounter } from './shared/messages/define-messages-wire.js';
import { defineRerankWire, documentTexts, NO_USAGE, resultsIn } from './shared/rerank-wire.js';
import { BrokenAnswer, UnsupportedRequest } from './shared/provider.js';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ReportedUsage,
  RerankCall,
  UpstreamModel,
  UpstreamRequest,
  UpstreamResponse,
  ProviderError,
} from './shared/provider.js';
import {
  asObject,
  bearer,
  given,
  postJson,
  readAnswerObject,
  readTopMembers,
  readVector,
  recordableId,
  tokenCount,
  tokenCountHeader,
  errorText,
  parseErrorBody,
  statedStatus,
} from './shared/wire.js';

const TITAN_COUNT = 'inputTextTokenCount';
const TITAN_FORMS = { embeddingTypes: ['float'] };
const DEFAULT_REGION = 'us-east-1';
// AWS limits each text of Cohere's v3 models. Later models are limited by tokens only.
const MAX_CHARACTERS_OF_V3 = 2_048;
const MAX_CHARACTERS_OF_DOCUMENT = 32_000;

const FAMILIES: ModelFamilies = {
  names: ['titan-embed-text', 'cohere-embed-v3', 'cohere-embed-v4'],
  /** The id may start with the region of an inference profile: eu.cohere.embed-v4:0. An ARN may end in an opaque id. */
  of(upstreamModel) {
    if (upstreamModel.includes('titan-embed-text')) return 'titan-embed-text';
    if (!upstreamModel.includes('cohere.')) return null;
    return /-v3\b/.test(upstreamModel) ? 'cohere-embed-v3' : 'cohere-embed-v4';
  },
};

/** `now` is the clock of the signature, which is valid for five minutes. */
export function createBedrock(now: () => Date): HttpProvider {
  return {
    transport: 'http',
    slug: 'bedrock',
    name: 'Amazon Bedrock',
    aliases: ['amazon-bedrock'],
    defaultBaseUrl: `https://bedrock-runtime.${DEFAULT_REGION}.amazonaws.com`,
    needsApiKey: true,
    families: FAMILIES,
    billing: { ...COHERE_BILLING, free: ['truncate', 'max_tokens', 'normalize'] },
    // Titan rejects; Cohere's models receive a truncation mode from this service.
    truncatesLongInputs: ({ truncate }, model) => isCohere(model) && truncate !== 'NONE',
    buildRequest: (call, connection) => sign(buildBedrockRequest(call, connection), connection, now()),
    readAnswer: (response, call) => (isCohere(call) ? readCohereAnswer(response) : readTitanAnswer(response)),
    readUsage: readBedrockUsage,
    readError: readBedrockError,
    chat: defineConverseWire({
      authorize: (request, connection) => sign(request, connection, now()),
      readError: readBedrockError,
      cancellation: 'runs_on',
    }),
    // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html
    rerank: defineRerankWire({
      bills: ['search_unit'],
      billing: { repriced: { max_tokens_per_doc: [] } },
      buildRequest: (call, connection) => sign(buildBedrockRerank(call, connection), connection, now()),
      results: (body) => {
        const { results, nextToken } = asObject(body);
        // Without the next page some documents would have no score.
        if (typeof nextToken === 'string') throw new BrokenAnswer('the answer has several pages');
        return resultsIn(results, 'relevanceScore');
      },
      usage: () => NO_USAGE,
      id: (_body, response) => requestIdOf(response),
      readError: readBedrockError,
    }),
    // Claude: thinking, marks of the cache and betas survive.
    otherWires: [
      defineMessagesWire({
        cancellation: 'runs_on',
        host: {
          version: 'bedrock-2023-05-31',
          inAddress: ['model', 'stream'],
          betasIn: 'body',
          path: ({ request, endpoint }) => {
            const operation = request.isStreamed ? 'invoke-with-response-stream' : 'invoke';
            return `/model/${encodeURIComponent(endpoint.upstreamModel)}/${operation}`;
          },
          counter: COUNTS,
          authorize: (request, connection) => sign(request, connection, now()),
          readError: readBedrockError,
          frames: { documentOf: eventInChunk },
        },
      }),
    ],
  };
}

/** CountTokens takes a whole call as base64. Source: the API reference of AWS. */
const COUNTS: HostedCounter = {
  inAddress: ['model', 'stream'],
  path: ({ endpoint }) => {
    const model = countedModel(endpoint.upstreamModel);
    return model && `/model/${encodeURIComponent(model)}/count-tokens`;
  },
  wrap: (call, { endpoint }) => {
    // No part of the count, and required of a call.
    call.add('max_tokens', String(endpoint.maxOutputTokens ?? endpoint.contextLength));
    const invokeModel = { body: Buffer.concat(call.finish()).toString('base64') };
    const body = new BodyAssembly();
    body.add('input', JSON.stringify({ invokeModel }));
    for (const edit of call.edits) body.edits.add(edit);
    return body;
  },
  readCount: (response) => tokenCount(parseErrorBody(response)['inputTokens']),
};

/** It takes models by their own ids, and no inference profile (eu.anthropic.claude-...). An ARN may end in an opaque id. */
function countedModel(upstreamModel: string): string | null {
  return /(?:^|[./])(anthropic\.claude[\w.:-]*)$/.exec(upstreamModel)?.[1] ?? null;
}

/** Events come as base64. */
function eventInChunk(type: string, payload: Buffer): Buffer | null {
  if (type !== 'chunk') return null;
  let chunk: unknown;
  try {
    chunk = JSON.parse(payload.toString());
  } catch (error) {
    throw new BrokenAnswer('a chunk of the stream is not JSON', { cause: error });
  }
  const { bytes } = asObject(chunk);
  if (typeof bytes !== 'string') throw new BrokenAnswer('a chunk of the stream has no bytes');
  return Buffer.from(bytes, 'base64');
}

export const bedrock: HttpProvider = createBedrock(() => new Date());

function familyOf({ family, upstreamModel }: UpstreamModel): string | null {
  return family ?? FAMILIES.of(upstreamModel);
}

function isCohere(model: UpstreamModel): boolean {
  return familyOf(model)?.startsWith('cohere') === true;
}

function buildBedrockRequest(call: ProviderCall, { baseUrl }: ProviderConnection): UpstreamRequest {
  const url = operationUrl(baseUrl, `/model/${encodeURIComponent(call.upstreamModel)}/invoke`);
  return postJson(url, {}, isCohere(call) ? cohereBodyOnBedrock(call) : titanBody(call));
}

function buildBedrockRerank(call: RerankCall, { baseUrl }: ProviderConnection): UpstreamRequest {
  const texts = documentTexts(call);
  if (texts.some((text) => text.length > MAX_CHARACTERS_OF_DOCUMENT))
    throw new UnsupportedRequest('documents', 'Bedrock takes at most 32,000 characters in each');
  // The agents' address of the same region.
  const url = operationUrl(baseUrl.replace('bedrock-runtime', 'bedrock-agent-runtime'), '/rerank');
  const { upstreamModel, query, topN: numberOfResults, extra } = call;
  const modelConfiguration = {
    modelArn: modelArn(upstreamModel, regionOf(baseUrl)),
    ...(Object.keys(extra).length > 0 && { additionalModelRequestFields: extra }),
  };
  const documents = texts.map((text) => ({ type: 'TEXT', textDocument: { text } }));
  const bedrockRerankingConfiguration = { numberOfResults, modelConfiguration };
  return postJson(
    url,
    {},
    {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: documents.map((inlineDocumentSource) => ({ type: 'INLINE', inlineDocumentSource })),
      rerankingConfiguration: { type: 'BEDROCK_RERANKING_MODEL', bedrockRerankingConfiguration },
    },
  );
}

function modelArn(upstreamModel: string, region: string): string {
  if (upstreamModel.startsWith('arn:')) return upstreamModel;
  const partition = /^(us-gov|cn)-/.exec(region)?.[1];
  return `arn:aws${partition === undefined ? '' : `-${partition}`}:bedrock:${region}::foundation-model/${upstreamModel}`;
}

function cohereBodyOnBedrock(call: ProviderCall): Record<string, unknown> {
  const isV3 = familyOf(call) === 'cohere-embed-v3';
  if (isV3) rejectLongTexts(call);
  rejectMembersOfCohere(call, isV3);
  return {
    // Cohere's API truncates long inputs by default; Bedrock does it only with this member, whose value depends on the
    // model.
    truncate: isV3 ? 'END' : 'RIGHT',
    // Bedrock has no base64, and takes an image as its data URL.
    ...cohereBody(call, {
      embeddingType: 'float',
      truncates: isV3 ? 'START or END' : 'LEFT or RIGHT',
      imagePart: (image) => image,
    }),
  };
}

/** The bodies on Bedrock lack these members of Cohere's own API, and refuse them with a final 400. */
function rejectMembersOfCohere({ extra, upstreamModel }: ProviderCall, isV3: boolean): void {
  for (const name of isV3 ? ['priority', 'max_tokens'] : ['priority'])
    if (Object.hasOwn(extra, name))
      throw new UnsupportedRequest(name, `${upstreamModel} takes none on Bedrock`);
}

/** Bedrock would answer 400, which is final, although Cohere's own API may accept the text. */
function rejectLongTexts(call: ProviderCall): void {
  for (const part of partsOfInput(call).flat()) {
    if (part.modality !== 'text' || !hasTooManyCharacters(part.text)) continue;
    throw new UnsupportedRequest(
      part.at,
      `${call.upstreamModel} takes at most ${MAX_CHARACTERS_OF_V3} characters on Bedrock`,
    );
  }
}

/** Counts a surrogate pair as one character, like the JSON schema that Bedrock validates with. */
function hasTooManyCharacters(text: string): boolean {
  if (text.length <= MAX_CHARACTERS_OF_V3) return false;
  return text.length > 2 * MAX_CHARACTERS_OF_V3 || Array.from(text).length > MAX_CHARACTERS_OF_V3;
}

function titanBody(call: ProviderCall): Record<string, unknown> {
  rejectOtherForms(TITAN_FORMS, call);
  const [inputText, ...others] = textsOf(call);
  if (others.length > 0) throw new UnsupportedRequest('input', `${call.upstreamModel} takes one text a call`);
  return { ...call.extra, inputText, ...given('dimensions', call.dimensions) };
}

function readTitanAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embedding', (cursor) => [readVector(cursor)], [
    TITAN_COUNT,
  ]);
  return { vectors, ...usageOf(members, response), upstreamId: requestIdOf(response) };
}

function readCohereAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors } = readAnswerObject(response, 'embeddings', readCohereVectors, []);
  return { vectors, ...usageOf({}, response), upstreamId: requestIdOf(response) };
}

function readBedrockUsage(response: UpstreamResponse): ReportedUsage {
  return usageOf(readTopMembers(response, [TITAN_COUNT]), response);
}

/** Cohere's bodies on Bedrock have no token counts; a header of Bedrock has them. */
function usageOf(members: Readonly<Record<string, unknown>>, { headers }: UpstreamResponse): ReportedUsage {
  const tokens =
    tokenCount(members[TITAN_COUNT]) ?? tokenCountHeader(headers['x-amzn-bedrock-input-token-count']);
  return { promptTokens: tokens, totalTokens: tokens };
}

function requestIdOf({ headers }: UpstreamResponse): string | null {
  return recordableId(headers['x-amzn-requestid']);
}

async function sign(
  request: UpstreamRequest,
  { apiKey = '', baseUrl }: ProviderConnection,
  moment: Date,
): Promise<UpstreamRequest> {
  if (!apiKey.includes(':')) return { ...request, headers: { ...request.headers, ...bearer(apiKey) } };
  const [accessKeyId = '', secretAccessKey = '', ...sessionToken] = apiKey.split(':');
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: request.body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken.length === 0 ? {} : { sessionToken: sessionToken.join(':') }),
    service: 'bedrock',
    region: regionOf(baseUrl),
    datetime: moment.toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  const { headers } = await signer.sign();
  return { ...request, headers: Object.fromEntries(headers) };
}

/** bedrock-runtime.{region}.amazonaws.com, also with -fips and behind the name of a private endpoint. */
function regionOf(baseUrl: string): string {
  return (
    /\bbedrock-runtime(?:-fips)?\.([a-z]+(?:-[a-z]+)+-\d+)\./.exec(new URL(baseUrl).host)?.[1] ??
    DEFAULT_REGION
  );
}

/** The names of errors are in a header and more precise than their statuses. */
function readBedrockError(response: UpstreamResponse): ProviderError {
  const body = parseErrorBody(response);
  const message = [body['message'], body['Message']].find((found) => typeof found === 'string');
  return {
    message: typeof message === 'string' ? message : errorText(response),
    code: nameOf(response, body['__type']),
    type: null,
    status: statedStatus(body),
  };
}

/** `ThrottlingException:http://...` in the header, `com.amazon.coral.service#ThrottlingException` in the body. */
function nameOf({ headers }: UpstreamResponse, type: unknown): string | null {
  const text = headers['x-amzn-errortype'] ?? type;
  return typeof text === 'string' ? text.replace(/:.*$/s, '').replace(/^.*#/s, '') : null;
}
