// System blocks and turns of the Messages wire as the kernel's messages, in Chat's form. Arguments of calls stay their own JSON text.
import type { ChatMessage, JsonObject, NativeCut } from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isObject } from '../../../domain/members.js';
import { ANTHROPIC_FORMAT } from '../../../domain/chat/reasoning-producer.js';
import { openEnvelope } from '../../kernel/reasoning-envelope.js';
import { bindToCall, encryptedThought, kernelMessage, textIn, toolResult } from '../kernel-messages.js';
import type { ReadPart } from '../kernel-messages.js';
import type { RawInputs } from './raw-inputs.js';
import { vendorSignature, thinkingCuts } from './thoughts.js';
import { blocksOf, cacheMark, readBlock } from './read-blocks.js';
import type { Block } from './read-blocks.js';

const ROLES = ['user', 'assistant', 'system'];

export interface ReadTurns {
  readonly messages: readonly ChatMessage[];
  /** Thoughts that no provider may get. */
  readonly cuts: readonly NativeCut[];
}

export function readSystem(system: unknown): ChatMessage[] {
  if (system === undefined || system === null) return [];
  return blocksOf(system, 'system').map((block, index) =>
    kernelMessage('system', [readBlock(block, `system[${index}]`)], {}),
  );
}

/** `inputs`: of the same messages. */
export function readTurns(value: unknown, inputs: RawInputs): ReadTurns {
  if (!isArray(value))
    return rejectMember('messages', value === undefined ? 'is required' : 'must be an array');
  if (value.length === 0) rejectMember('messages', 'must have at least 1 element');
  const messages: ChatMessage[] = [];
  for (const [index, turn] of value.entries()) {
    const at = `messages[${index}]`;
    if (!isObject(turn)) return rejectMember(at, 'must be an object');
    const role = ROLES.find((known) => known === turn['role']);
    if (role === undefined) return rejectMember(`${at}.role`, `must be one of ${ROLES.join(', ')}`);
    const blocks = blocksOf(turn['content'], `${at}.content`);
    if (role === 'assistant') messages.push(readAssistant(blocks, at, (block) => inputs.of(index, block)));
    else messages.push(...readUser(role as 'user' | 'system', blocks, at));
  }
  return { messages, cuts: thinkingCuts(value) };
}

function readAssistant(
  blocks: readonly Block[],
  at: string,
  inputOf: (block: number) => string,
): ChatMessage {
  const parts: ReadPart[] = [];
  const details: JsonObject[] = [];
  let bound = 0;
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const [index, block] of blocks.entries()) {
    const path = `${at}.content[${index}]`;
    switch (block['type']) {
      case 'thinking': {
        details.push(...thoughtDetails(textIn(block, 'thinking', path), block['signature'], details.length));
        break;
      }
      case 'redacted_thinking': {
        const data = textIn(block, 'data', path);
        details.push({ type: 'reasoning.encrypted', format: ANTHROPIC_FORMAT, index: details.length, data });
        break;
      }
      case 'tool_use':
        bindToCall(details, bound, textIn(block, 'id', path));
        bound = details.length;
        calls.push({
          id: textIn(block, 'id', path),
          name: textIn(block, 'name', path),
          arguments: inputOf(index),
        });
        break;
      default:
        parts.push(readBlock(block, path));
    }
  }
  const body = {
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
  const read = kernelMessage('assistant', parts, parts.length === 0 ? { content: null, ...body } : body);
  return { ...read, toolCalls: calls, ...(parts.length === 0 && { content: null }) };
}

/** A sealed signature names its producer. */
function thoughtDetails(text: string, signature: unknown, index: number): JsonObject[] {
  const sealed = typeof signature === 'string' ? openEnvelope(signature) : null;
  if (sealed?.kind === 'encrypted')
    return encryptedThought({ format: sealed.format, index, text, data: sealed.text });
  const plain = { type: 'reasoning.text', text, index };
  if (sealed !== null) return [{ ...plain, format: sealed.format, signature: sealed.text }];
  const own = vendorSignature(signature);
  return [own === null ? plain : { ...plain, format: ANTHROPIC_FORMAT, signature: own }];
}

/** Results come before the words of the turn, as messages of their own. Their images follow, marked with their call. */
function readUser(role: 'user' | 'system', blocks: readonly Block[], at: string): ChatMessage[] {
  const results: ChatMessage[] = [];
  const parts: ReadPart[] = [];
  for (const [index, block] of blocks.entries()) {
    const path = `${at}.content[${index}]`;
    if (block['type'] !== 'tool_result') parts.push(readBlock(block, path));
    else {
      const { result, images } = readResult(block, path);
      results.push(result);
      parts.push(...images);
    }
  }
  return parts.length === 0 && results.length > 0 ? results : [...results, kernelMessage(role, parts, {})];
}

function readResult(
  block: Block,
  at: string,
): { readonly result: ChatMessage; readonly images: readonly ReadPart[] } {
  const id = textIn(block, 'tool_use_id', at);
  const { content = null, is_error: isError } = block;
  const blocks = content === null ? [] : blocksOf(content, `${at}.content`);
  const read = blocks.map((each, index) => readBlock(each, `${at}.content[${index}]`));
  const { result, media } = toolResult(id, read, { isError: isError === true, mark: cacheMark(block) });
  return { result, images: media };
}
