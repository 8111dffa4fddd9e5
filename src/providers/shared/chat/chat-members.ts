// The top-level members of a chat body: which ones the router writes itself, and the rule of every other one. Members without
// a rule are dropped: they may change the server for other calls, defeat a bound, or read data that is not the caller's.
import type { ChatCall } from '../chat-wire.js';
import type { MemberEdit, MemberRule, SupportTraits } from './chat-traits.js';

/** Read or written by the router: they are never copied from the caller, and nothing is lost. */
const ROUTED = new Set([
  ...'model models route provider stream stream_options usage max_tokens max_completion_tokens messages tools'.split(
    ' ',
  ),
  ...'reasoning reasoning_effort include_reasoning structured_outputs user service_tier modalities'.split(
    ' ',
  ),
  ...'functions function_call image_config audio plugins transforms web_search_options session_id trace'.split(
    ' ',
  ),
  ...'stop_server_tools_when metadata debug store moderation safety_identifier background prompt'.split(' '),
]);

/** They have no meaning without tools. */
const TOOL_SETTINGS = new Set(['tool_choice', 'parallel_tool_calls']);

/** The rules of every wire that has none of its own. */
const COMMON_RULES: Readonly<Record<string, MemberRule>> = {
  temperature: 'keep',
  top_p: 'keep',
  stop: 'keep',
  seed: 'keep',
  frequency_penalty: 'keep',
  presence_penalty: 'keep',
  logit_bias: 'keep',
  // Some wires refuse the member whatever its value, and `false` is the default of the others.
  logprobs: (value, { request }) => (request.wantsLogprobs ? { value } : 'omitted'),
  top_logprobs: 'keep',
  response_format: 'keep',
  n: (value, { request }) => (request.choiceCount === 1 ? 'omitted' : { value }),
  tool_choice: toolChoice,
  parallel_tool_calls: withTools,
  top_k: 'listed',
  top_a: 'listed',
  min_p: 'listed',
  repetition_penalty: 'listed',
  verbosity: 'listed',
  prediction: 'listed',
  cache_control: 'listed',
  prompt_cache_key: 'listed',
  prompt_cache_options: 'listed',
  prompt_cache_retention: 'listed',
};

/** Name and JSON text of every member that is sent. `edits` receives the names of those that are dropped or weaker. */
export function* editedMembers(
  call: ChatCall,
  traits: SupportTraits,
  edits: Set<string>,
): Generator<readonly [name: string, value: Buffer | string]> {
  for (const [name, value] of call.request.members) {
    const edit = editMember(name, value, call, traits);
    if (edit === 'dropped') edits.add(name);
    if (edit === null || typeof edit === 'string') continue;
    if (edit.isWeaker) edits.add(name);
    yield [edit.name ?? name, edit.value];
  }
}

/** The edit of a top-level member; null for one that the router writes itself. */
export function editMember(
  name: string,
  value: Buffer,
  call: ChatCall,
  traits: SupportTraits,
): MemberEdit | null {
  if (ROUTED.has(name)) return null;
  return TOOL_SETTINGS.has(name) && withholdsTools(call, traits)
    ? 'omitted'
    : editByRule(name, value, call, traits);
}

/** A wire that drops `tool_choice` honours `none` only without the tools: the model would call them. */
export function withholdsTools(call: ChatCall, traits: SupportTraits): boolean {
  const { toolChoice: choice, members } = call.request;
  if (choice === null || !('mode' in choice) || choice.mode !== 'none') return false;
  const value = members.get('tool_choice');
  return value !== undefined && editByRule('tool_choice', value, call, traits) === 'dropped';
}

function editByRule(name: string, value: Buffer, call: ChatCall, traits: SupportTraits): MemberEdit {
  const { endpoint } = call;
  const isAllowed = endpoint.allowedMembers?.includes(name) === true;
  const rule = ruleOf(name, traits);
  if (isAllowed || rule === 'keep') return { value };
  if (rule === undefined || rule === 'drop') return 'dropped';
  if (rule === 'listed') return endpoint.supportedParameters.includes(name) ? { value } : 'dropped';
  return rule(value, call);
}

/** A rule for members of a call without tools. */
export function withTools(value: Buffer, { request }: ChatCall): MemberEdit {
  return request.tools.length === 0 ? 'omitted' : { value };
}

function ruleOf(name: string, { members }: SupportTraits): MemberRule | undefined {
  // A caller chooses the name: `constructor` must find nothing.
  for (const rules of [members, COMMON_RULES]) if (Object.hasOwn(rules, name)) return rules[name];
  return undefined;
}

/** Without unknown members. `any` is an alias that only some upstreams know. */
function toolChoice(value: Buffer, { request }: ChatCall): MemberEdit {
  const { toolChoice: choice, tools } = request;
  if (tools.length === 0) return 'omitted';
  if (choice === null) return { value };
  const named =
    'mode' in choice ? choice.mode : { type: 'function', function: { name: choice.functionName } };
  return { value: JSON.stringify(named) };
}
