// A stub for every provider that is reached over HTTP.
import { azureStub } from './azure.js';
import { bedrockStub } from './bedrock.js';
import { cohereStub } from './cohere.js';
import { deepinfraStub } from './deepinfra.js';
import { googleStub } from './google.js';
import { jinaStub } from './jina.js';
import { mistralStub } from './mistral.js';
import { nomicStub } from './nomic.js';
import { ollamaStub } from './ollama.js';
import { openaiCompatibleStub } from './openai-compatible.js';
import { openaiStub } from './openai.js';
import type { ProviderStub } from './provider-stub.js';
import { teiStub } from './tei.js';
import { togetherStub } from './together.js';
import { vllmStub } from './vllm.js';
import { voyageStub } from './voyage.js';

export const PROVIDER_STUBS: readonly ProviderStub[] = [
  openaiStub,
  azureStub,
  cohereStub,
  voyageStub,
  mistralStub,
  googleStub,
  jinaStub,
  togetherStub,
  deepinfraStub,
  nomicStub,
  bedrockStub,
  ollamaStub,
  teiStub,
  vllmStub,
  openaiCompatibleStub,
];
