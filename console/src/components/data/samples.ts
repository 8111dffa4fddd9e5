// The same call as curl, TypeScript and Python.
import type { CodeSample } from './code-samples';

export const baseUrl = (): string => `${location.origin}/api/v1`;

interface EmbeddingSample {
  readonly key: string;
  readonly model: string;
  readonly input: string;
}

export function embeddingSamples({ key, model, input }: EmbeddingSample): readonly CodeSample[] {
  const text = JSON.stringify(input);
  const body = JSON.stringify({ model, input }).replaceAll("'", String.raw`'\''`);
  return [
    {
      language: 'curl',
      code: `curl ${baseUrl()}/embeddings \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`,
    },
    {
      language: 'TypeScript',
      code: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl()}',
  apiKey: '${key}',
});
const { data } = await client.embeddings.create({
  model: ${JSON.stringify(model)},
  input: ${text},
});
console.log(data[0].embedding);`,
    },
    {
      language: 'Python',
      code: `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl()}",
    api_key="${key}",
)
answer = client.embeddings.create(
    model=${JSON.stringify(model)},
    input=${text},
)
print(answer.data[0].embedding)`,
    },
  ];
}
