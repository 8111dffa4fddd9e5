// The same call as curl, TypeScript and Python.
import { urlOf } from '../../base-path';
import type { CodeSample } from './code-samples';

export const baseUrl = (): string => `${location.origin}${urlOf('/api/v1')}`;

/** `options`: further ones, which end with a space. */
export const curlSample = (path: string, key: string, json: string, options = ''): string =>
  `curl ${options}${baseUrl()}${path} \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${json.replaceAll("'", String.raw`'\''`)}'`;

interface EmbeddingSample {
  readonly key: string;
  readonly model: string;
  readonly input: string | readonly string[];
  readonly dimensions?: number | undefined;
  /** Not a parameter of the OpenAI clients, which pass it on nevertheless. */
  readonly inputType?: string | undefined;
}

export function embeddingSamples(sample: EmbeddingSample): readonly CodeSample[] {
  const { key, model, input, dimensions, inputType } = sample;
  const body = { model, input, dimensions, input_type: inputType };
  const json = JSON.stringify(body, null, typeof input === 'string' ? undefined : 2);
  return [
    {
      language: 'curl',
      code: curlSample('/embeddings', key, json),
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
  input: ${JSON.stringify(input)},${lines([
    dimensions !== undefined && `  dimensions: ${dimensions},`,
    inputType !== undefined && `  // @ts-expect-error: a parameter beyond those of OpenAI`,
    inputType !== undefined && `  input_type: ${JSON.stringify(inputType)},`,
  ])}
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
    input=${JSON.stringify(input)},${lines([
      dimensions !== undefined && `    dimensions=${dimensions},`,
      inputType !== undefined && `    extra_body={"input_type": ${JSON.stringify(inputType)}},`,
    ])}
)
print(answer.data[0].embedding)`,
    },
  ];
}

/** Lines that follow another; absent ones are left out. */
export const lines = (texts: readonly (string | false)[]): string =>
  texts
    .filter((text) => text !== false)
    .map((text) => `\n${text}`)
    .join('');
