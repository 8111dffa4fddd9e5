// The same chat as curl, TypeScript and Python, streamed, with the vendor's client of the API.
import type { CodeSample } from '../../../components/data/code-samples';
import { baseUrl, curlSample } from '../../../components/data/samples';
import type { ChatWire, WireBody } from './wires/chat-wire';

export function chatSamples(key: string, wire: ChatWire, body: WireBody): readonly CodeSample[] {
  // Undefined members are not sent, and their tools have some as well.
  const sent = JSON.parse(JSON.stringify(body)) as object;
  const members = Object.entries(sent) as [string, unknown][];
  const { typescript, python, path, clientPath } = wire;
  const base = baseUrl().slice(0, -'/v1'.length) + clientPath;
  return [
    {
      language: 'curl',
      code: curlSample(`/${path}`, key, JSON.stringify(sent, null, 2), '--no-buffer '),
    },
    {
      language: 'TypeScript',
      code: `${typescript.imports.join('\n')}

const client = ${typescript.construct}({
  baseURL: '${base}',
  apiKey: '${key}',
});
const stream = await ${typescript.create}({
${members.map(([name, value]) => `  ${name}: ${indent(JSON.stringify(value, null, 2), 2)},`).join('\n')}
});
${typescript.loop}`,
    },
    {
      language: 'Python',
      code: `${python.imports.join('\n')}

client = ${python.construct}(
    base_url="${base}",
    api_key="${key}",
)
stream = ${python.create}(
${members.map(([name, value]) => `    ${name}=${indent(pythonOf(value), 4)},`).join('\n')}
)
${python.loop}`,
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
