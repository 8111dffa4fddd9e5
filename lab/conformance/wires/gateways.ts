// Clients of three wires through this service, and through Portkey's open gateway.
import { BEDROCK_KEY } from '../../../test/support/bedrock/bedrock-stub.js';
import { STUB_KEY as ANTHROPIC_KEY } from '../../../test/support/messages/messages-stub.js';
import { STUB_KEY as OPENAI_KEY } from '../../../test/support/responses/responses-stub.js';
import { modelBehind, providerOf } from '../../../test/support/wires/wire-stubs.js';
import type { WireProviderName, WireStubs } from '../../../test/support/wires/wire-stubs.js';
import { NotOffered } from '../gateway.js';
import type { RunningPortkey } from '../portkey.js';
import type { RunningService } from '../signalbox.js';
import type { WireGateway } from './check.js';

const API = '/api/v1';

export function signalboxWires({ baseUrl, apiKey }: RunningService): WireGateway {
  return {
    name: 'signalbox',
    notOffered: new Set(),
    remarks: [],
    targetOf: (provider) => ({
      origin: baseUrl.slice(0, -API.length),
      version: API,
      headers: { authorization: `Bearer ${apiKey}` },
      model: modelBehind(provider),
    }),
    isNotOffered: () => false,
  };
}

interface PortkeyTarget {
  readonly provider: string;
  readonly path: string;
  readonly key?: string;
}

const [AWS_KEY = '', AWS_SECRET = ''] = BEDROCK_KEY.split(':');

/** Null: not called, as the remarks say. */
const TARGETS: Readonly<Record<WireProviderName, PortkeyTarget | null>> = {
  chat: { provider: 'openai', path: '/v1', key: 'none' },
  messages: { provider: 'anthropic', path: '/v1', key: ANTHROPIC_KEY },
  responses: { provider: 'openai', path: '/v1', key: OPENAI_KEY },
  gemini: null,
  converse: { provider: 'bedrock', path: '' },
  'bedrock-messages': { provider: 'bedrock', path: '' },
  'vertex-gemini': null,
  'vertex-messages': null,
};

export function portkeyWires({ name, baseUrl }: RunningPortkey, stubs: WireStubs): WireGateway {
  const version = '/v1';
  return {
    name,
    notOffered: new Set(['cost']),
    remarks: [
      'cost is not offered: it knows no prices',
      'gemini is not called: it asks for streams as a list of JSON, which the stub does not write',
      "vertex is not called: its tokens come from Google's own address",
      'chat to responses and back is not offered: it sends each to the address of its own wire',
    ],
    targetOf: (provider, client) => {
      const known = TARGETS[provider];
      if (known === null || (provider === 'responses' && client === 'chat')) throw new NotOffered();
      const target = {
        provider: known.provider,
        custom_host: stubs.originOf(provider) + known.path,
        ...(known.key === undefined
          ? { aws_access_key_id: AWS_KEY, aws_secret_access_key: AWS_SECRET, aws_region: 'us-east-1' }
          : { api_key: known.key }),
      };
      const config = { strategy: { mode: 'single' }, targets: [target] };
      return {
        origin: baseUrl.slice(0, -version.length),
        version,
        headers: { 'x-portkey-config': JSON.stringify(config) },
        model: providerOf(provider).upstream_model,
      };
    },
    // OpenAI's provider sends chats and responses to the address of the client's wire.
    isNotOffered: ({ text }) => text.includes('is not supported by') || text.includes('Not Found'),
  };
}
