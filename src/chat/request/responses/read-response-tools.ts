// Tools of the Responses wire and the choice among them. Tools that the provider runs have no price here: they are left out, because
// coding agents declare them unasked, and refused where nothing else is declared (docs/contract.md#responses).
import { forcesCall } from '../../../domain/chat/chat-request.js';
import type {
  ChatRequest,
  ChatTool,
  DeclaredTool,
  JsonObject,
  NativeCut,
} from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isGiven, isObject } from '../../../domain/members.js';
import { CUSTOM_INPUT, kernelName } from './tool-names.js';

type Members = Readonly<Record<string, unknown>>;
type ToolChoice = ChatRequest['toolChoice'];

const MAX_TOOLS = 1_000;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const NAME_RULE = 'must have 1 to 128 letters, digits, _ and -';
const MODES = ['none', 'auto', 'required'] as const;
const CHOICE_RULE =
  'must be none, auto, required, {type: "function" or "custom", name}, or {type: "allowed_tools", mode, tools}';

export interface ReadTools {
  readonly tools: readonly ChatTool[];
  readonly declared: ReadonlyMap<string, DeclaredTool>;
  readonly toolChoice: ToolChoice;
  /** Tools that no provider gets, as attempts record them. */
  readonly edits: readonly string[];
  readonly cuts: readonly NativeCut[];
  /** Custom tools or namespaces are declared. */
  readonly hasCustom: boolean;
  /** The choice may name tools that no provider gets. */
  readonly hasCutChoice: boolean;
}

export function readResponseTools(value: unknown, choice: unknown): ReadTools {
  const given = value ?? [];
  if (!isArray(given)) return rejectMember('tools', 'must be an array');
  if (given.length > MAX_TOOLS) rejectMember('tools', `must have at most ${MAX_TOOLS} elements`);
  const reader = new ToolsReader();
  for (const [index, tool] of given.entries()) reader.read(tool, index);
  const { tools, declared, left } = reader;
  const chosen = readChoice(choice, declared);
  if (left.length > 0 && (tools.length === 0 || forcesCall(chosen.choice)))
    rejectMember(
      left[0]?.at ?? 'tools',
      'is not supported: tools that the provider runs have no price here; use tools that the client runs',
    );
  const { allowed } = chosen;
  const kept = allowed === null ? tools : tools.filter(({ name }) => allowed.has(name));
  return {
    tools: kept,
    declared,
    toolChoice: kept.length === 0 ? null : chosen.choice,
    edits: left.map(({ type }) => `tools.${type}`),
    cuts: left.map(({ index }) => ({ member: 'tools', index, inner: null })),
    hasCustom: [...declared.values()].some(({ type, namespace }) => type === 'custom' || namespace !== null),
    hasCutChoice: left.length > 0 && allowed !== null,
  };
}

class ToolsReader {
  readonly tools: ChatTool[] = [];
  readonly declared = new Map<string, DeclaredTool>();
  readonly left: { readonly index: number; readonly at: string; readonly type: string }[] = [];

  read(tool: unknown, index: number): void {
    const at = `tools[${index}]`;
    if (!isObject(tool)) return rejectMember(at, 'must be an object');
    const { type } = tool;
    if (typeof type !== 'string') return rejectMember(`${at}.type`, 'must be a string');
    if (type === 'function' || type === 'custom') this.add(tool, null, at);
    else if (type === 'namespace') this.readNamespace(tool, at);
    else this.left.push({ index, at: `${at}.type`, type });
  }

  private readNamespace(tool: Members, at: string): void {
    const namespace = nameOf(tool, at);
    const { tools: inner } = tool;
    if (!isArray(inner)) return rejectMember(`${at}.tools`, 'must be an array');
    if (this.tools.length + inner.length > MAX_TOOLS)
      rejectMember(`${at}.tools`, `must have at most ${MAX_TOOLS} elements, all namespaces together`);
    for (const [index, one] of inner.entries()) {
      const path = `${at}.tools[${index}]`;
      if (!isObject(one)) return rejectMember(path, 'must be an object');
      if (one['type'] !== 'function' && one['type'] !== 'custom')
        rejectMember(`${path}.type`, 'must be function or custom');
      this.add(one, namespace, path);
    }
  }

  private add(tool: Members, namespace: string | null, at: string): void {
    const type = tool['type'] === 'custom' ? 'custom' : 'function';
    const declared: DeclaredTool = { type, name: nameOf(tool, at), namespace };
    const name = kernelName(declared);
    if (this.declared.has(name)) rejectMember(`${at}.name`, `names a second tool ${name}`);
    this.declared.set(name, declared);
    const described = type === 'custom' ? customFunction(tool, at) : plainFunction(tool, at);
    this.tools.push({ name, body: { type: 'function', function: { name, ...described } } });
  }
}

function nameOf({ name }: Members, at: string): string {
  return typeof name === 'string' && NAME.test(name) ? name : rejectMember(`${at}.name`, NAME_RULE);
}

function descriptionOf({ description }: Members, at: string): string {
  if (!isGiven(description)) return '';
  return typeof description === 'string'
    ? description
    : rejectMember(`${at}.description`, 'must be a string');
}

function plainFunction(tool: Members, at: string): JsonObject {
  const { parameters, strict } = tool;
  const description = descriptionOf(tool, at);
  const hasParameters = isGiven(parameters);
  if (hasParameters && !isObject(parameters)) rejectMember(`${at}.parameters`, 'must be an object');
  if (isGiven(strict) && typeof strict !== 'boolean') rejectMember(`${at}.strict`, 'must be a boolean');
  return {
    ...(description !== '' && { description }),
    ...(hasParameters && { parameters: parameters as JsonObject }),
    ...(typeof strict === 'boolean' && { strict }),
  };
}

/** The model writes the input as a text; its grammar is described, since nothing enforces it. */
function customFunction(tool: Members, at: string): JsonObject {
  const { format } = tool;
  const described = descriptionOf(tool, at);
  const grammar = isObject(format) && format['type'] === 'grammar' ? format : null;
  if (grammar !== null && typeof grammar['definition'] !== 'string')
    rejectMember(`${at}.format.definition`, 'must be a string');
  const rule =
    grammar === null
      ? null
      : `\`${CUSTOM_INPUT}\` must match this ${grammar['syntax'] === 'regex' ? 'regular expression' : 'Lark grammar'}:` +
        `\n${grammar['definition'] as string}`;
  const description = [described, rule].filter((text) => text !== null && text !== '').join('\n\n');
  return {
    ...(description !== '' && { description }),
    parameters: {
      type: 'object',
      properties: { [CUSTOM_INPUT]: { type: 'string', description: 'The input of the tool as plain text.' } },
      required: [CUSTOM_INPUT],
      additionalProperties: false,
    },
  };
}

interface ReadChoice {
  readonly choice: ToolChoice;
  /** Names in the kernel; null: all tools. */
  readonly allowed: ReadonlySet<string> | null;
}

function readChoice(value: unknown, declared: ReadonlyMap<string, DeclaredTool>): ReadChoice {
  if (value === undefined || value === null) return { choice: null, allowed: null };
  const mode = modeOf(value);
  if (mode !== null) return { choice: { mode }, allowed: null };
  if (!isObject(value)) return rejectMember('tool_choice', CHOICE_RULE);
  if (value['type'] === 'function' || value['type'] === 'custom')
    return { choice: { functionName: declaredName(value, declared, 'tool_choice') }, allowed: null };
  if (value['type'] !== 'allowed_tools') return rejectMember('tool_choice', CHOICE_RULE);
  const { mode: allowedMode, tools } = value;
  const chosen = modeOf(allowedMode);
  if (chosen === null || chosen === 'none')
    return rejectMember('tool_choice.mode', 'must be auto or required');
  if (!isArray(tools)) return rejectMember('tool_choice.tools', 'must be an array');
  const names = tools.flatMap((tool, index) => {
    const at = `tool_choice.tools[${index}]`;
    if (!isObject(tool)) return rejectMember(at, 'must be an object');
    // Tools that the provider runs are left out here as well.
    const isOwn = tool['type'] === 'function' || tool['type'] === 'custom';
    return isOwn ? [declaredName(tool, declared, at)] : [];
  });
  return { choice: { mode: chosen }, allowed: new Set(names) };
}

function modeOf(value: unknown): (typeof MODES)[number] | null {
  return MODES.find((mode) => mode === value) ?? null;
}

function declaredName(tool: Members, declared: ReadonlyMap<string, DeclaredTool>, at: string): string {
  const { name, namespace } = tool;
  const wanted = kernelName({
    namespace: typeof namespace === 'string' ? namespace : null,
    name: nameOf({ name }, at),
  });
  return declared.has(wanted) ? wanted : rejectMember(`${at}.name`, 'must be the name of one of the tools');
}
