// The settings of a preset as members of a caller's wire.
import type { ChatRequest, ChatTool, JsonObject, JsonValue } from '../../domain/chat/chat-request.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { isArray, isObject } from '../../domain/members.js';
import { choiceInMessages, outputInMessages } from '../../providers/shared/messages/define-messages-wire.js';
import { promptInMessages } from '../../providers/shared/messages/messages-turns.js';
import { flatChoice, flatTool, textInResponses } from '../../providers/shared/responses/kernel-body.js';
import { memberOf } from './member-text.js';
import type { Member } from './member-text.js';
import { readReasoning } from '../dto/chat-reasoning.js';
import { readResponseFormat, readToolChoice } from '../dto/chat-tools.js';

// Bounds of the Messages wire.
const LEAST_BUDGET = 1_024;
const MOST_TEMPERATURE = 1;
const MESSAGES_EFFORTS: Readonly<Record<string, string>> = { minimal: 'low' };

interface FormMember extends Member {
  /** Members of the caller that stand for the same setting: one of them wins. */
  readonly rivals: readonly string[];
}

export interface PresetForm {
  readonly members: ReadonlyMap<string, FormMember>;
  /** Settings that the wire does not have: endpoints of other wires get them, under the kernel's names. */
  readonly kernel: ReadonlyMap<string, Buffer>;
}

const CHAT_RIVALS: Readonly<Record<string, readonly string[]>> = {
  max_tokens: ['max_tokens', 'max_completion_tokens'],
  reasoning: ['reasoning', 'reasoning_effort', 'include_reasoning'],
};
const RESPONSES_SAMPLING = ['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty'];
/** Settings that every wire has in the same form. */
const SHARED = ['model', 'models', 'provider'];

export function presetForm(wire: ModelWire, config: ReadonlyMap<string, Buffer>): PresetForm {
  const writer = new FormWriter(config);
  if (wire === 'chat') for (const name of config.keys()) writer.keep(name, name, CHAT_RIVALS[name] ?? [name]);
  else {
    for (const name of SHARED) writer.keep(name);
    if (wire === 'messages') writeMessages(writer);
    else writeResponses(writer);
    writer.leaveRest();
  }
  return writer;
}

class FormWriter implements PresetForm {
  readonly members = new Map<string, FormMember>();
  readonly kernel = new Map<string, Buffer>();
  private readonly written = new Set<string>();

  constructor(private readonly config: ReadonlyMap<string, Buffer>) {}

  value(name: string): unknown {
    const bytes = this.config.get(name);
    return bytes && JSON.parse(bytes.toString());
  }

  /** With its own bytes. */
  keep(name: string, as = name, rivals: readonly string[] = [as]): void {
    const bytes = this.config.get(name);
    if (!bytes) return;
    this.written.add(name);
    this.members.set(as, { bytes, value: this.value(name), rivals });
  }

  /** In another form. */
  write(names: readonly string[], as: string, value: unknown, rivals: readonly string[] = [as]): void {
    for (const name of names) this.written.add(name);
    if (value !== null) this.members.set(as, { ...memberOf(value), rivals });
  }

  leaveRest(): void {
    for (const [name, bytes] of this.config) if (!this.written.has(name)) this.kernel.set(name, bytes);
  }

  get reasoning(): ChatRequest['reasoning'] {
    const reasoning = this.value('reasoning');
    return isObject(reasoning) ? readReasoning({ reasoning }) : null;
  }

  get tools(): ChatTool[] {
    const tools = this.value('tools');
    return (isArray(tools) ? (tools as readonly JsonObject[]) : []).map((body) => ({
      name: (body['function'] as { readonly name: string }).name,
      body,
    }));
  }

  get format(): Pick<ChatRequest, 'responseFormat' | 'responseSchema'> {
    return readResponseFormat(this.value('response_format'));
  }

  get toolChoice(): ChatRequest['toolChoice'] {
    return readToolChoice(this.value('tool_choice'), this.tools);
  }
}

function writeMessages(writer: FormWriter): void {
  for (const name of ['max_tokens', 'top_p', 'top_k']) writer.keep(name);
  if (Number(writer.value('temperature')) <= MOST_TEMPERATURE) writer.keep('temperature');
  const stop = writer.value('stop');
  if (stop !== undefined) writer.write(['stop'], 'stop_sequences', isArray(stop) ? stop : [stop]);
  const { tools } = writer;
  if (tools.length > 0) {
    const written = promptInMessages([], tools, new Set()).tools;
    writer.write(['tools'], 'tools', written === null ? null : JSON.parse(written));
    const isSequential = writer.value('parallel_tool_calls') === false;
    writer.write(
      ['tool_choice', 'parallel_tool_calls'],
      'tool_choice',
      choiceInMessages(writer.toolChoice, isSequential),
    );
  }
  const { reasoning } = writer;
  const effort = reasoning?.effort ?? null;
  if (reasoning !== null) writer.write(['reasoning'], 'thinking', thinkingOf(reasoning, writer));
  const { format } = writer;
  const named = effort === null || effort === 'none' ? null : (MESSAGES_EFFORTS[effort] ?? effort);
  const output = outputInMessages(format, named);
  const names = format.responseFormat === 'json_schema' ? ['response_format'] : [];
  if (output !== null) writer.write(names, 'output_config', output);
}

function thinkingOf(
  { effort, maxTokens, isEnabled, isExcluded }: NonNullable<ChatRequest['reasoning']>,
  writer: FormWriter,
): JsonValue {
  if (effort === 'none') return { type: 'disabled' };
  const limit = writer.value('max_tokens');
  const budget = maxTokens === null ? null : Math.max(LEAST_BUDGET, maxTokens);
  if (budget !== null && (typeof limit !== 'number' || budget < limit))
    return { type: 'enabled', budget_tokens: budget };
  if (effort === null && budget === null && !isEnabled) return null;
  return { type: 'adaptive', ...(!isExcluded && { display: 'summarized' }) };
}

function writeResponses(writer: FormWriter): void {
  writer.keep('max_tokens', 'max_output_tokens');
  for (const name of [...RESPONSES_SAMPLING, 'parallel_tool_calls', 'reasoning']) writer.keep(name);
  const { tools, toolChoice } = writer;
  if (tools.length > 0) writer.write(['tools'], 'tools', tools.map(flatTool));
  if (toolChoice !== null) writer.write(['tool_choice'], 'tool_choice', flatChoice(toolChoice));
  const text = textInResponses(writer.format, writer.value('verbosity') as JsonValue | undefined);
  if (text !== null) writer.write(['response_format', 'verbosity'], 'text', text);
}
