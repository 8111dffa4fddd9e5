// Chat through this service, and through Portkey's open gateway.
import { CHAT_STUBS } from '../../../test/support/chat-providers/index.js';
import { modelAt } from '../../../test/support/chat-providers/every-chat-provider.js';
import type {
  ChatWireName,
  EveryChatProvider,
} from '../../../test/support/chat-providers/every-chat-provider.js';
import { PORTKEY_PROVIDERS } from '../portkey.js';
import type { PortkeyProvider, RunningPortkey } from '../portkey.js';
import type { RunningService } from '../signalbox.js';
import type { ChatGateway } from './check.js';

export function signalboxChat({ baseUrl, apiKey }: RunningService): ChatGateway {
  return {
    name: 'signalbox',
    notOffered: new Set(),
    remarks: [],
    callOf: (wire, body) => ({
      url: `${baseUrl}/chat/completions`,
      headers: { authorization: `Bearer ${apiKey}` },
      body: { model: modelAt(wire), ...body },
    }),
  };
}

const MODEL = 'gpt-4o';

const PROVIDERS: Readonly<Record<ChatWireName, PortkeyProvider>> = {
  ...PORTKEY_PROVIDERS,
  // The stubs have the vendors' compatible addresses.
  google: { name: 'openai', path: '/v1beta/openai' },
  cohere: { name: 'openai', path: '/compatibility/v1' },
};

export function portkeyChat({ name, baseUrl }: RunningPortkey, providers: EveryChatProvider): ChatGateway {
  return {
    name,
    notOffered: new Set(['unmetered']),
    remarks: [
      'unmetered is not offered: it counts no tokens',
      'vllm, openai-compatible, google and cohere are called through its provider for OpenAI, at their compatible addresses',
    ],
    callOf: (wire, body) => {
      const target = {
        provider: PROVIDERS[wire].name,
        api_key: CHAT_STUBS[wire].apiKey,
        custom_host: new URL(providers.stubOf(wire).baseUrl).origin + PROVIDERS[wire].path,
        ...(wire === 'azure' && { resource_name: 'stub', deployment_id: MODEL, api_version: '2024-10-21' }),
      };
      return {
        url: `${baseUrl}/chat/completions`,
        headers: { 'x-portkey-config': JSON.stringify({ strategy: { mode: 'single' }, targets: [target] }) },
        body: { model: MODEL, ...body },
      };
    },
  };
}
