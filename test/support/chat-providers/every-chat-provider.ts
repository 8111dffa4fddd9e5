// The stubs of all chat providers, and one model at each wire.
import { startChatStub } from './chat-stub.js';
import type { RunningChatStub } from './chat-stub.js';
import { CHAT_STUBS } from './index.js';
import { chatEndpoint } from './send-chat.js';

/** Azure's older addresses are a setting of the same provider: a service has one of the two. */
export const CHAT_WIRES = [
  'openai',
  'azure',
  'mistral',
  'together',
  'deepinfra',
  'ollama',
  'vllm',
  'openai-compatible',
  'google',
  'cohere',
] as const;
export type ChatWireName = (typeof CHAT_WIRES)[number];

/** The model that only this wire serves. */
export const modelAt = (wire: ChatWireName): string => `in-house/${wire}`;

/** Prices of the models of these tests. Picodollars a token. */
export const PROMPT_PRICE = 1_000_000n;
export const COMPLETION_PRICE = 2_000_000n;

export interface EveryChatProvider {
  readonly environment: Readonly<Record<string, string>>;
  /** The text of a catalogue file. */
  readonly catalogue: string;
  stubOf(wire: ChatWireName): RunningChatStub;
  close(): Promise<void>;
}

export async function startEveryChatProvider(): Promise<EveryChatProvider> {
  const running = new Map(
    await Promise.all(CHAT_WIRES.map(async (wire) => [wire, await startChatStub(CHAT_STUBS[wire])] as const)),
  );
  return {
    environment: Object.fromEntries(
      [...running].flatMap(([wire, { baseUrl }]) => {
        const prefix = wire.toUpperCase().replaceAll('-', '_');
        return [
          [`${prefix}_BASE_URL`, baseUrl],
          [`${prefix}_API_KEY`, CHAT_STUBS[wire].apiKey],
        ];
      }),
    ),
    catalogue: JSON.stringify({ chat_models: CHAT_WIRES.map(modelOf) }),
    stubOf: (wire) => {
      const stub = running.get(wire);
      if (!stub) throw new Error(`${wire} is not running`);
      return stub;
    },
    close: async () => {
      await Promise.all([...running.values()].map((stub) => stub.close()));
    },
  };
}

function modelOf(wire: ChatWireName): object {
  const { upstreamModel, contextLength, supportedParameters, inputModalities } = chatEndpoint(wire);
  const prices = { prompt: 1, completion: 2, cache_read: 0.1 };
  return {
    id: modelAt(wire),
    created_at: '2026-01-01',
    context_length: contextLength,
    endpoints: [
      {
        provider: wire,
        upstream_model: upstreamModel,
        supported_parameters: supportedParameters,
        input_modalities: inputModalities,
        prices: [{ effective_from: '2026-01-01', source: 'a test', usd_per_million_tokens: prices }],
        data_policy: { retains_prompts: false, trains: false },
      },
    ],
  };
}
