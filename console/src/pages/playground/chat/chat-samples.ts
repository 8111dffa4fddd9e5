// The same chat as curl, TypeScript and Python, streamed.
import type { ChatBody } from '../../../api/chat';
import type { CodeSample } from '../../../components/data/code-samples';
import { baseUrl, curlSample } from '../../../components/data/samples';

export function chatSamples(key: string, body: ChatBody): readonly CodeSample[] {
  const members = Object.entries({ ...body, stream: true }).filter(([, value]) => value !== undefined);
  return [
    {
      language: 'curl',
      code: curlSample(
        '/chat/completions',
        key,
        JSON.stringify(Object.fromEntries(members), null, 2),
        '--no-buffer ',
      ),
    },
    {
      language: 'TypeScript',
      code: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl()}',
  apiKey: '${key}',
});
const stream = await client.chat.completions.create({
${members.map(([name, value]) => `  ${name}: ${indent(JSON.stringify(value, null, 2), 2)},`).join('\n')}
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
}`,
    },
    {
      language: 'Python',
      code: `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl()}",
    api_key="${key}",
)
stream = client.chat.completions.create(
${members.map(([name, value]) => `    ${name}=${indent(pythonOf(value), 4)},`).join('\n')}
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")`,
    },
  ];
}

const indent = (text: string, width: number): string => text.replaceAll('\n', `\n${' '.repeat(width)}`);

/** The literal of a JSON value: its texts are Python's, its other words are not. */
export function pythonOf(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => pythonOf(item))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `    ${indent(item, 4)},`).join('\n')}\n${close}`;
}
