// Bedrock's Converse wire: one form for the models of many makers (docs/contract.md#converse-providers).
import { canonicalServiceTier } from '../../../domain/chat/service-tier.js';
import { isObject } from '../../../domain/members.js';
import { operationUrl } from '../address.js';
import { authorizedRequest, BodyAssembly } from '../body-assembly.js';
import { editedMembers } from '../chat/chat-members.js';
import { chatProblems, hardProblems, lostMembers } from '../chat/chat-problems.js';
import { isReasoningLost, reasoningEdit } from '../chat/chat-reasoning.js';
import type { ChatCall, ChatWire } from '../chat-wire.js';
import { UnsupportedRequest } from '../provider.js';
import type { ProviderConnection } from '../provider.js';
import type { UpstreamRequest } from '../upstream.js';
import { wrappedFrame } from '../wires/event-frames.js';
import { CONVERSE_SUPPORT, INFERENCE_MEMBERS } from './converse-members.js';
import { promptInConverse } from './converse-turns.js';

export interface ConverseTraits extends Pick<ChatWire, 'readError' | 'cancellation'> {
  authorize(request: UpstreamRequest, connection: ProviderConnection): Promise<UpstreamRequest>;
}

export function defineConverseWire(traits: ConverseTraits): ChatWire {
  const { readError, cancellation } = traits;
  return {
    protocol: 'converse',
    buildRequest: (call, connection) => {
      const { request, endpoint } = call;
      const [problem] = hardProblems(request, endpoint, CONVERSE_SUPPORT);
      if (problem) throw new UnsupportedRequest(problem.at, problem.rule);
      const body = bodyOf(call);
      const operation = request.isStreamed ? 'converse-stream' : 'converse';
      const path = `/model/${encodeURIComponent(endpoint.upstreamModel)}/${operation}`;
      const url = operationUrl(connection.baseUrl, path);
      return authorizedRequest(url, {}, body, (sent) => traits.authorize(sent, connection));
    },
    problems: (request, endpoint) => chatProblems(request, endpoint, CONVERSE_SUPPORT),
    readError,
    cancellation,
    frames: { documentOf: wrappedFrame },
  };
}

function bodyOf(call: ChatCall): BodyAssembly {
  const { request, endpoint, maxOutputTokens } = call;
  const body = new BodyAssembly();
  const inference = new BodyAssembly();
  const fields = new BodyAssembly();
  for (const name of lostMembers(request.native)) body.edits.add(name);
  const prompt = promptInConverse(request, body.edits);
  if (prompt.system !== null) body.add('system', prompt.system);
  body.add('messages', prompt.messages);
  if (prompt.toolConfig !== null) body.add('toolConfig', prompt.toolConfig);
  if (maxOutputTokens !== null) inference.add('maxTokens', String(maxOutputTokens));
  for (const [name, value] of editedMembers(call, CONVERSE_SUPPORT, body.edits))
    (INFERENCE_MEMBERS.has(name) ? inference : fields).add(name, value);
  addObject(body, 'inferenceConfig', inference);
  addObject(body, 'additionalModelRequestFields', fields);
  addOutput(body, call);
  if (request.user !== null) body.edits.add('user');
  if (request.serviceTier !== null && endpoint.supportedParameters.includes('service_tier'))
    body.add('serviceTier', JSON.stringify({ type: canonicalServiceTier(request.serviceTier) }));
  return body;
}

function addObject(body: BodyAssembly, name: string, members: BodyAssembly): void {
  if (!members.isEmpty) body.add(name, Buffer.concat(members.finish()));
}

function addOutput(body: BodyAssembly, call: ChatCall): void {
  const { responseFormat, responseSchema } = call.request;
  const edit = reasoningEdit(call, CONVERSE_SUPPORT);
  if (isReasoningLost(edit)) body.edits.add('reasoning');
  const effort = edit !== null && edit !== 'dropped' && 'effort' in edit ? edit.effort : null;
  const described = isObject(responseSchema) ? responseSchema : {};
  const { schema, name, description } = described;
  const jsonSchema = {
    schema: JSON.stringify(isObject(schema) ? schema : { type: 'object' }),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
  };
  const output = {
    ...(effort !== null && effort !== 'none' && { effort }),
    ...(responseFormat === 'json_schema' && {
      textFormat: { type: 'json_schema', structure: { jsonSchema } },
    }),
  };
  if (Object.keys(output).length > 0) body.add('outputConfig', JSON.stringify(output));
}
