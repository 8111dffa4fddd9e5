// Tools of the Messages wire and the choice among them. Of tools that the provider runs itself only a search of the web can have a
// price: the others are left out, because coding agents declare them unasked, and refused where nothing else is declared
// (docs/contract.md#messages).
import { forcesCall } from '../../../domain/chat/chat-request.js';
import type {
  ChatRequest,
  ChatTool,
  JsonObject,
  NativeCut,
  WebSearchTool,
} from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isGiven, isObject } from '../../../domain/members.js';
import { cacheMark } from './read-blocks.js';

const MAX_TOOLS = 1_000;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Types of tools that the client runs: they cost nothing but tokens. */
const CLIENT_TYPES = /^(?:bash|text_editor|memory|computer)_\d{8}$/;
const SEARCH_TYPES = /^web_search_\d{8}$/;
/** Later ones let the model write programs that search, whose rounds nothing bounds. */
const PLAIN_SEARCH = 'web_search_20250305';
const MOST_SEARCHES = 1_000;

export interface ReadTools {
  readonly tools: readonly ChatTool[];
  readonly toolChoice: ChatRequest['toolChoice'];
  readonly isSequential: boolean;
  readonly cuts: readonly NativeCut[];
  readonly edits: readonly string[];
  /** Tools that only endpoints of this wire take. */
  readonly unshared: readonly string[];
  readonly webSearch: WebSearchTool | null;
}

export function readMessageTools(value: unknown, choice: unknown): ReadTools {
  const given = value === undefined || value === null ? [] : value;
  if (!isArray(given)) return rejectMember('tools', 'must be an array');
  if (given.length > MAX_TOOLS) rejectMember('tools', `must have at most ${MAX_TOOLS} elements`);
  const tools: ChatTool[] = [];
  const cuts: NativeCut[] = [];
  const edits: string[] = [];
  const unshared = new Set<string>();
  let search: Omit<WebSearchTool, 'isNeeded'> | null = null;
  for (const [index, tool] of given.entries()) {
    const at = `tools[${index}]`;
    if (!isObject(tool)) return rejectMember(at, 'must be an object');
    const { type = 'custom' } = tool;
    if (type === 'custom' || type === null) tools.push(readTool(tool as JsonObject, at));
    else if (typeof type === 'string' && CLIENT_TYPES.test(type)) unshared.add(`tools.${type}`);
    else if (typeof type === 'string' && search === null && isPlainSearch(type, tool))
      search = { type, index, maxUses: readMaxUses(tool, at) };
    else {
      cuts.push({ member: 'tools', index, inner: null });
      edits.push(`tools.${typeof type === 'string' ? type : 'type'}`);
    }
  }
  const named = readChoice(choice, tools);
  const hasNone = given.length > 0 && cuts.length === given.length;
  if (cuts.length > 0 && (hasNone || forcesCall(named)))
    rejectMember(
      `tools[${cuts[0]?.index ?? 0}].type`,
      'is not supported: it has no price here; use web_search, or tools that the client runs',
    );
  return {
    tools,
    toolChoice: tools.length === 0 ? null : named,
    isSequential: isObject(choice) && choice['disable_parallel_tool_use'] === true,
    cuts,
    edits,
    unshared: [...unshared],
    webSearch: search && {
      ...search,
      isNeeded: forcesCall(named) || cuts.length + 1 === given.length,
    },
  };
}

/** A search that only the model itself calls. */
function isPlainSearch(
  type: string,
  { allowed_callers: callers }: Readonly<Record<string, unknown>>,
): boolean {
  if (!SEARCH_TYPES.test(type)) return false;
  if (!isGiven(callers)) return type === PLAIN_SEARCH;
  return isArray(callers) && callers.length > 0 && callers.every((caller) => caller === 'direct');
}

/** Null: no bound. */
function readMaxUses({ max_uses: most }: Readonly<Record<string, unknown>>, at: string): number | null {
  if (!isGiven(most)) return null;
  if (!Number.isSafeInteger(most) || (most as number) < 1 || (most as number) > MOST_SEARCHES)
    return rejectMember(`${at}.max_uses`, `must be an integer from 1 to ${MOST_SEARCHES}`);
  return most as number;
}

function readTool(tool: JsonObject, at: string): ChatTool {
  const { name, description, input_schema: parameters, strict } = tool;
  if (typeof name !== 'string' || !NAME.test(name))
    return rejectMember(`${at}.name`, 'must have 1 to 128 letters, digits, _ and -');
  if (isGiven(description) && typeof description !== 'string')
    rejectMember(`${at}.description`, 'must be a string');
  if (!isObject(parameters)) rejectMember(`${at}.input_schema`, 'must be an object');
  return {
    name,
    body: {
      type: 'function',
      function: {
        name,
        ...(typeof description === 'string' && { description }),
        parameters: parameters,
        ...(strict === true && { strict }),
      },
      ...cacheMark(tool),
    },
  };
}

function readChoice(value: unknown, tools: readonly ChatTool[]): ChatRequest['toolChoice'] {
  if (value === undefined || value === null) return null;
  const { type, name } = value as JsonObject;
  switch (type) {
    case 'auto':
    case 'none':
      return { mode: type };
    case 'any':
      return { mode: 'required' };
    case 'tool':
      if (typeof name !== 'string') return rejectMember('tool_choice.name', 'must be a string');
      // A tool of the wire has no entry among the kernel's.
      return tools.some((tool) => tool.name === name) ? { functionName: name } : { mode: 'required' };
    default:
      return rejectMember('tool_choice.type', 'must be auto, any, tool or none');
  }
}
