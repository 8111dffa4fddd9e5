// Vertex on loopback: it checks the tokens, the addresses and the bodies as Google would.
import type { ServerResponse } from 'node:http';
import { problemOf } from '../gemini/gemini-checks.js';
import { answerChunks, RICH_CHUNKS, sendGoogleError, WHOLE_ANSWER } from '../gemini/gemini-stub.js';
import { RICH_EVENTS, sendError, streamMessages, WHOLE_MESSAGE } from '../messages/messages-stub.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubHandler, StubUpstream } from '../upstreams/stub-upstream.js';
import { checkedStatement } from './service-account.js';

/** A beta that Claude has there. */
export const BETA = 'context-1m-2025-08-07';

const PATH =
  /^\/v1\/projects\/([\w-]+)\/locations\/global\/publishers\/(?:google|anthropic)\/models\/([\w.@-]+):(generateContent|streamGenerateContent\?alt=sse|countTokens|rawPredict|streamRawPredict)$/;

export interface VertexStub extends StubUpstream {
  /** The accounts that have asked for a token, in order. */
  readonly exchanges: string[];
  /** From now on an account gets no token; null: every one does. */
  refuse(account: string | null): void;
}

export async function startVertexStub(): Promise<VertexStub> {
  const exchanges: string[] = [];
  const valid = new Map<string, string>();
  let refused: string | null = null;
  let scripted: StubHandler | null = null;
  const stub = await startStubUpstream((request, response) => {
    if (request.path === '/token') {
      const { claims } = checkedStatement(request.text, `${stub.origin}/token`);
      const account = String(claims['iss']).split('@')[0] ?? '';
      exchanges.push(account);
      if (account === refused)
        return sendJson(response, 400, {
          error: 'invalid_grant',
          error_description: 'Invalid JWT Signature.',
        });
      const token = `ya29.token-${exchanges.length}-of-${account}`;
      valid.set(token, account);
      return sendJson(response, 200, { access_token: token, expires_in: 3_599, token_type: 'Bearer' });
    }
    const account = valid.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    if (account === undefined)
      return sendGoogleError(
        response,
        401,
        'UNAUTHENTICATED',
        'Request had invalid authentication credentials.',
      );
    const [, project, model = '', operation] = PATH.exec(request.path) ?? [];
    if (operation === undefined) return sendGoogleError(response, 404, 'NOT_FOUND', 'no such path');
    if (project !== `project-of-${account}`)
      return sendGoogleError(response, 403, 'PERMISSION_DENIED', 'Permission denied on resource project.');
    if (operation.endsWith('awPredict')) return answerClaude(request, response, operation, scripted);
    const problem = problemOf(request.body, model);
    if (problem !== null) return sendGoogleError(response, 400, 'INVALID_ARGUMENT', problem);
    if (operation === 'countTokens') return sendJson(response, 200, { totalTokens: 78 });
    if (scripted !== null) return scripted(request, response);
    if (operation === 'generateContent') return sendJson(response, 200, WHOLE_ANSWER);
    return answerChunks(...RICH_CHUNKS)(request, response);
  });
  return Object.assign(stub, {
    exchanges,
    refuse: (account: string | null): void => {
      refused = account;
    },
    answerWith: (handler: StubHandler | null): void => {
      scripted = handler;
    },
  });
}

const CLAUDE_MEMBERS = new Set(
  (
    'anthropic_version messages max_tokens system tools tool_choice thinking output_config stop_sequences temperature top_p top_k ' +
    'stream metadata'
  ).split(' '),
);

/** Claude's own checks, and those of the cloud: the address names the model. */
function answerClaude(
  request: ReceivedRequest,
  response: ServerResponse,
  operation: string,
  scripted: StubHandler | null,
): void | Promise<void> {
  const { body, headers, path } = request;
  const refuse = (message: string): void => sendError(response, 400, 'invalid_request_error', message);
  if (body['anthropic_version'] !== 'vertex-2023-10-16') return refuse('anthropic_version: Field required');
  if (headers['anthropic-version'] !== undefined) return refuse('anthropic-version: unexpected header');
  const isCount = path.includes('/count-tokens:');
  const unknown = Object.keys(body).find(
    (name) => !CLAUDE_MEMBERS.has(name) && !(isCount && name === 'model'),
  );
  if (unknown !== undefined) return refuse(`${unknown}: Extra inputs are not permitted`);
  if (isCount)
    return sendJson(response, 200, { input_tokens: body['model'] === 'claude-stub@20261001' ? 79 : 0 });
  if ((body['stream'] === true) !== (operation === 'streamRawPredict'))
    return refuse('stream: wrong address');
  const beta = headers['anthropic-beta'];
  if (beta !== undefined && beta !== BETA) return refuse('anthropic-beta: Unexpected value(s)');
  if (scripted !== null) return scripted(request, response);
  if (operation === 'rawPredict') return sendJson(response, 200, WHOLE_MESSAGE);
  return streamMessages(RICH_EVENTS)(request, response);
}
