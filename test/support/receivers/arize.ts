// The OTLP endpoint of Arize AX, which reads OpenInference.
import type { Attributes } from './otlp-validator.js';
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://otlp.eu-west-1a.arize.com';
const API_KEY = 'ak-0123456789abcdef-canary';
const SPACE_KEY = 'U3BhY2U6MTIzNDU2NzgtY2FuYXJ5';

interface Answer {
  readonly content?: string | null;
  readonly refusal?: string;
  readonly tool_calls?: readonly unknown[];
}

/** An answer is shown by its flattened text or calls. */
function showsAnswers(attributes: Attributes): boolean {
  const output = JSON.parse(String(attributes.get('output.value') ?? '[]')) as Answer | readonly Answer[];
  return [output].flat().every(({ content, refusal, tool_calls: calls }, index) => {
    const isEmpty = !content && !refusal && !calls;
    const start = `llm.output_messages.${index}.message.`;
    const shown = /^(content|contents\..+|tool_calls\..+)$/;
    return (
      isEmpty ||
      [...attributes].some(
        ([name, value]) => name.startsWith(start) && shown.test(name.slice(start.length)) && value !== '',
      )
    );
  });
}

/** Messages and tool calls are shown in the flattened form only. */
function problemOfChat(attributes: Attributes): string | null {
  const names = [...attributes.keys()];
  const count = (form: RegExp): number => names.filter((name) => form.test(name)).length;
  const { messages = [], tools = [] } = JSON.parse(String(attributes.get('input.value') ?? '{}')) as {
    messages?: readonly unknown[];
    tools?: readonly unknown[];
  };
  if (count(/^llm\.input_messages\.\d+\.message\.role$/) < Math.min(messages.length, 1))
    return 'messages that are not flattened';
  if (count(/^llm\.tools\.\d+\.tool\.json_schema$/) !== tools.length) return 'tools that are not flattened';
  const calls = JSON.stringify(messages).match(/\\?"tool_calls\\?":/g)?.length ?? 0;
  const isShown =
    count(/^llm\.input_messages\.\d+\.message\.tool_calls\.\d+\.tool_call\.function\.name$/) >= calls;
  if (!isShown) return 'tool calls that are not flattened';
  if (!showsAnswers(attributes)) return 'an answer that is shown as empty';
  return attributes.has('llm.model_name') ? null : 'a span of a language model without its name';
}

export const arizeReceiver = otlpReceiver({
  type: 'arize',
  config: { apiKey: API_KEY, spaceKey: SPACE_KEY, modelId: 'search', baseUrl: `${ORIGIN}/v1` },
  origin: ORIGIN,
  addressField: 'baseUrl',
  path: '/v1/traces',
  isAuthorized: (headers) =>
    headers['arize-api-key'] === API_KEY &&
    headers['arize-space-id'] === SPACE_KEY &&
    headers['api_key'] === API_KEY &&
    headers['space_id'] === SPACE_KEY,
  maxBytes: 4_194_304,
  problemOf: ({ attributes, resource }) => {
    if (resource.get('openinference.project.name') !== 'search') return 'no such project';
    if (attributes.get('openinference.span.kind') === 'LLM') return problemOfChat(attributes);
    if (attributes.get('openinference.span.kind') === 'RERANKER')
      return attributes.has('reranker.model_name') ? null : 'a span of a reranker without its name';
    if (attributes.get('openinference.span.kind') !== 'EMBEDDING') return 'an unknown kind of span';
    // The convention reserves these names for spans of language models.
    return attributes.has('llm.system') || attributes.has('llm.provider')
      ? 'not a span of a language model'
      : null;
  },
  generationOf: (attributes) =>
    (JSON.parse(String(attributes.get('metadata'))) as Record<string, unknown>)['generation_id'],
});
