// Ollama's /api/embed, and the older /api/embeddings, which takes one text: unknown members are passed over. Source: its
// code of 2026-08.
import { defineProviderStub, findMemberProblem, isFlag, isText } from './provider-stub.js';
import type { ProviderStub, StubReply } from './provider-stub.js';
import { contentsOf, countAllTokens, vectorOf } from './vectors.js';

const WIDTH = 768;

const reject = (status: number, error: string): StubReply => ({ status, body: { error } });

export const ollamaStub: ProviderStub = defineProviderStub({
  slug: 'ollama',
  apiKey: '',
  models: ['nomic-embed-text'],
  nativeWidth: WIDTH,
  maxInputs: null,
  basePath: '',
  failures: {
    rateLimited: reject(429, 'too many requests'),
    overloaded: reject(503, 'server busy, please try again.  maximum pending requests exceeded'),
    broken: reject(500, 'an error was encountered while running the model'),
    invalid: reject(400, 'the input length exceeds the context length'),
  },
  answer({ method, path, body }) {
    const isOlder = path === '/api/embeddings';
    if (method !== 'POST' || !(isOlder || path === '/api/embed')) {
      return { status: 404, body: '404 page not found' };
    }
    const found = findMemberProblem(body, {
      required: { model: isText, ...(isOlder ? { prompt: isText } : {}) },
      optional: { truncate: isFlag, dimensions: Number.isInteger },
      unknown: 'ignored',
    });
    if (found) return reject(400, `json: cannot unmarshal into Go struct field EmbedRequest.${found.name}`);
    if (!this.models.includes(String(body['model'])))
      return reject(404, `model '${String(body['model'])}' not found`);
    if (isOlder) return { status: 200, body: { embedding: vectorOf(body['prompt'], WIDTH) } };
    const contents = contentsOf(body['input']);
    if (!contents.every((content) => typeof content === 'string')) return reject(400, 'invalid input type');
    const width = body['dimensions'] as number | undefined;
    return {
      status: 200,
      body: {
        model: body['model'],
        embeddings: contents.map((text) => vectorOf(text, WIDTH, width)),
        total_duration: 14_143_917,
        load_duration: 1_019_500,
        prompt_eval_count: countAllTokens(contents),
      },
    };
  },
});
