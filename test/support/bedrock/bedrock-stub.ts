// Bedrock's runtime on loopback: checks the signature, and refuses what the vendor refuses. Source: the API reference of Converse, of
// Anthropic's models on Bedrock, and errors as users quote them.
import type { ServerResponse } from 'node:http';
import { findSignatureProblem } from '../providers/signature-v4.js';
import { WHOLE_MESSAGE } from '../messages/messages-stub.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../upstreams/stub-upstream.js';
import { chunkFrame, eventFrame } from './frames.js';

type Members = Readonly<Record<string, unknown>>;
export type StubAnswer = (request: ReceivedRequest, response: ServerResponse) => void;

const SECRETS = { secretAccessKey: 'secret-of-the-stub', sessionToken: '', service: 'bedrock' };
export const BEDROCK_KEY = `AKIDSTUB:${SECRETS.secretAccessKey}`;
const CONVERSE_MEMBERS = new Set(
  (
    'messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables ' +
    'additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig'
  ).split(' '),
);
const INFERENCE_MEMBERS = new Set(['maxTokens', 'temperature', 'topP', 'stopSequences']);
const CLAUDE_MEMBERS = new Set(
  (
    'anthropic_version anthropic_beta messages max_tokens system tools tool_choice thinking output_config ' +
    'stop_sequences temperature top_p top_k metadata'
  ).split(' '),
);
const BETAS = new Set(['context-1m-2025-08-07']);
const BLOCKS = new Set(
  'text image document video audio toolUse toolResult reasoningContent cachePoint'.split(' '),
);
export const USAGE = { inputTokens: 2_000, outputTokens: 1_000, totalTokens: 3_000 };
export const WHOLE_CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: USAGE,
  metrics: { latencyMs: 10 },
};

export interface BedrockStub extends StubUpstream {
  /** Null: the usual answer. */
  answerWith(answer: StubAnswer | null): void;
}

export async function startBedrockStub(): Promise<BedrockStub> {
  let scripted: StubAnswer | null = null;
  const stub = await startStubUpstream((request, response) => {
    const signature = findSignatureProblem({ ...request, bytes: Buffer.from(request.text) }, SECRETS);
    if (signature !== null) return refuse(response, 403, 'InvalidSignatureException', signature);
    const operation = /^\/model\/[^/]+\/([a-z-]+)$/.exec(request.path)?.[1] ?? '';
    if (operation === 'count-tokens') return (scripted ?? answerCount)(request, response);
    const isConverse = operation.startsWith('converse');
    const problem = isConverse ? converseProblem(request.body) : claudeProblem(request.body);
    if (problem !== null) return refuse(response, 400, 'ValidationException', problem);
    return (scripted ?? usualAnswer(operation))(request, response);
  });
  return Object.assign(stub, {
    answerWith: (answer: StubAnswer | null): void => {
      scripted = answer;
    },
  });
}

/** Of the call inside: CountTokens takes models by their own ids, and Claude alone. */
function answerCount({ path, body }: ReceivedRequest, response: ServerResponse): void {
  const { input } = body as { readonly input?: { readonly invokeModel?: { readonly body?: unknown } } };
  const call = input?.invokeModel?.body;
  if (!decodeURIComponent(path).startsWith('/model/anthropic.') || typeof call !== 'string')
    return refuse(
      response,
      400,
      'ValidationException',
      "The provided model doesn't support counting tokens.",
    );
  const counted = JSON.parse(Buffer.from(call, 'base64').toString()) as Members;
  const problem = claudeProblem(counted);
  if (problem !== null || typeof counted['max_tokens'] !== 'number')
    return refuse(response, 400, 'ValidationException', problem ?? 'max_tokens: Field required');
  sendJson(response, 200, { inputTokens: 79 });
}

export function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { message }, { 'x-amzn-errortype': `${type}:http://internal.amazon.com/` });
}

/** Frames of a stream that ends well unless the last is cut. */
export const streamFrames =
  (...frames: readonly Buffer[]): StubAnswer =>
  (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/vnd.amazon.eventstream',
      'x-amzn-requestid': 'amzn-request-1',
    });
    for (const frame of frames) response.write(frame);
    response.end();
  };

export const CLAUDE_START = {
  type: 'message_start',
  message: { ...WHOLE_MESSAGE, content: [], stop_reason: null },
};

export function converseFrames(...deltas: readonly Members[]): Buffer[] {
  return [
    eventFrame('messageStart', { role: 'assistant' }),
    ...deltas.map((delta) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta })),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('messageStop', { stopReason: 'end_turn' }),
    eventFrame('metadata', { usage: USAGE, metrics: { latencyMs: 10 } }),
  ];
}

function usualAnswer(operation: string): StubAnswer {
  switch (operation) {
    case 'converse':
      return (_request, response) => sendJson(response, 200, WHOLE_CONVERSE);
    case 'converse-stream':
      return streamFrames(...converseFrames({ text: 'Hel' }, { text: 'lo' }));
    case 'invoke':
      return (_request, response) => sendJson(response, 200, WHOLE_MESSAGE);
    default:
      return streamFrames(
        ...[
          CLAUDE_START,
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: WHOLE_MESSAGE.usage },
          { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1 } },
        ].map(chunkFrame),
      );
  }
}

function claudeProblem(body: Members): string | null {
  const unknown = Object.keys(body).find((name) => !CLAUDE_MEMBERS.has(name));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  if (body['anthropic_version'] !== 'bedrock-2023-05-31') return 'anthropic_version: Field required';
  const beta = ((body['anthropic_beta'] ?? []) as string[]).find((name) => !BETAS.has(name));
  if (beta !== undefined) return `invalid beta flag: ${beta}`;
  for (const [index, tool] of ((body['tools'] ?? []) as Members[]).entries())
    for (const name of ['defer_loading', 'strict', 'input_examples', 'eager_input_streaming'])
      if (tool[name] !== undefined) return `tools.${index}.custom.${name}: Extra inputs are not permitted`;
  return null;
}

interface Turn {
  readonly role: string;
  readonly content: readonly Members[];
}

function converseProblem(body: Members): string | null {
  const unknown = Object.keys(body).find((name) => !CONVERSE_MEMBERS.has(name));
  if (unknown !== undefined) return `The model returned the following errors: unknown ${unknown}`;
  const inference = Object.keys(body['inferenceConfig'] ?? {});
  const member = inference.find((name) => !INFERENCE_MEMBERS.has(name));
  if (member !== undefined) return `inferenceConfig has no ${member}`;
  const turns = body['messages'] as readonly Turn[];
  if (turns[0]?.role !== 'user') return 'A conversation must start with a user message.';
  const names = new Set<unknown>();
  for (const [index, { role, content }] of turns.entries()) {
    if (index > 0 && turns[index - 1]?.role === role) return 'Roles must alternate.';
    if (content.length === 0) return `messages.${index}.content: needs a block`;
    for (const block of content) {
      const problem = blockProblem(block, names);
      if (problem !== null) return `messages.${index}: ${problem}`;
    }
  }
  return toolProblem(body, turns);
}

function blockProblem(block: Members, names: Set<unknown>): string | null {
  const [kind, ...others] = Object.keys(block);
  if (kind === undefined || others.length > 0 || !BLOCKS.has(kind)) return 'a block has one member';
  if (kind === 'text' && String(block['text']).trim() === '') return 'The text field is blank.';
  if (kind !== 'document') return null;
  const { name } = block['document'] as Members;
  if (names.has(name)) return `duplicate document name ${String(name)}`;
  names.add(name);
  return /^[a-zA-Z0-9()[\]-]+(?: [a-zA-Z0-9()[\]-]+)*$/.test(String(name)) ? null : 'invalid document name';
}

/** Results follow their calls, and calls have definitions. */
function toolProblem({ toolConfig }: Members, turns: readonly Turn[]): string | null {
  for (const [index, { content }] of turns.entries()) {
    const calls = content.flatMap(({ toolUse }) => (toolUse ? [(toolUse as Members)['toolUseId']] : []));
    if (calls.length === 0) continue;
    if (toolConfig === undefined)
      return 'The toolConfig field must be defined when using toolUse content blocks.';
    if (calls.some((id) => !/^[a-zA-Z0-9_-]{1,64}$/.test(String(id)))) return 'toolUseId is invalid';
    const answered = (turns[index + 1]?.content ?? []).flatMap(({ toolResult }) =>
      toolResult ? [(toolResult as Members)['toolUseId']] : [],
    );
    if (String(calls) !== String(answered)) return 'Expected toolResult blocks for every toolUse.';
  }
  return null;
}
