// Misspelt variables are found, and those of other programs are left alone.
import { expect, it } from '@jest/globals';
import { PROVIDERS, findProvider } from '../index.js';
import { misspeltVariables, requiredVariables } from './variables.js';

const SLUGS = PROVIDERS.map(({ slug }) => slug);

it.each([
  ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
  ['OPENAI_KEY', 'OPENAI_API_KEY'],
  ['OPENAI_TOKEN', 'OPENAI_API_KEY'],
  ['OPEN_AI_API_KEY', 'OPENAI_API_KEY'],
  ['OPENAI-API-KEY', 'OPENAI_API_KEY'],
  ['openai_api_key', 'OPENAI_API_KEY'],
  ['OPENAI_API_KEYS', 'OPENAI_API_KEY'],
  ['OPENAI_API_KYE', 'OPENAI_API_KEY'],
  ['OPNEAI_API_KEY', 'OPENAI_API_KEY'],
  ['OPENAPI_API_KEY', 'OPENAI_API_KEY'],
  ['OPENAI_BASEURL', 'OPENAI_BASE_URL'],
  ['OPENAI_API_BASE', 'OPENAI_BASE_URL'],
  ['OPENAI_BASE_ULR', 'OPENAI_BASE_URL'],
  ['OPENAI_COMPATIBLE_URL', 'OPENAI_COMPATIBLE_BASE_URL'],
  ['OPENAI_COMPATABLE_BASE_URL', 'OPENAI_COMPATIBLE_BASE_URL'],
  ['AZURE_OPENAI_ENDPOINT', 'AZURE_BASE_URL'],
  ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
  ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  ['COHRE_API_KEY', 'COHERE_API_KEY'],
  ['CO_API_KEY', 'COHERE_API_KEY'],
  ['DEEPINFA_API_KEY', 'DEEPINFRA_API_KEY'],
  ['OLLAMA_HOST', 'OLLAMA_BASE_URL'],
  ['TEI_URL', 'TEI_BASE_URL'],
  ['AWS_BEARER_TOKEN_BEDROCK', 'BEDROCK_API_KEY'],
])('%s stands for %s', (name, meant) => {
  expect(misspeltVariables({ [name]: 'value' }, SLUGS)).toEqual([{ name, meant }]);
});

it.each([
  'OPENAI_API_KEY',
  'OPENAI_COMPATIBLE_API_KEY',
  'TEI_BASE_URL',
  'PATH',
  'HOME',
  'HOST',
  'DATABASE_URL',
  'REDIS_URL',
  'ENCRYPTION_KEYS',
  'METRICS_BEARER_TOKEN',
  'LLM_API_KEY',
  'DEI_API_KEY',
  'NPM_TOKEN',
  'GITHUB_TOKEN',
  'PINECONE_API_KEY',
  'HF_TOKEN',
  'OPENAI_ORG_ID',
  'OPENAI_MODEL',
  'OPENAI_API_VERSION',
  'AZURE_CLIENT_SECRET',
  'GOOGLE_MAPS_KEY',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'AWS_ACCESS_KEY_ID',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'HTTPS_PROXY',
])('%s is left alone', (name) => {
  expect(misspeltVariables({ [name]: 'value' }, SLUGS)).toEqual([]);
});

it('warns neither about empty variables nor when the right one is set', () => {
  expect(misspeltVariables({ OPENAI_KEY: ' ', OPENAI_APIKEY: '' }, SLUGS)).toEqual([]);
  expect(misspeltVariables({ OPENAI_KEY: 'one', OPENAI_API_KEY: 'two' }, SLUGS)).toEqual([]);
});

it.each([
  ['local', []],
  ['openai', ['OPENAI_API_KEY']],
  ['azure', ['AZURE_API_KEY', 'AZURE_BASE_URL']],
  ['ollama', ['OLLAMA_BASE_URL']],
  ['openai-compatible', ['OPENAI_COMPATIBLE_BASE_URL']],
])('%s needs %j', (slug, variables) => {
  expect(requiredVariables(findProvider(slug)!)).toEqual(variables);
});
