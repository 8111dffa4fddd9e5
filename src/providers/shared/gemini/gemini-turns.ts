// The kernel's messages as contents of Gemini's wire: turns alternate, and the results of a turn of calls come first in the next one,
// in the order of the calls. Arguments of calls stay their own text.
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatMessage } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';
import { withSignedCalls } from '../chat/call-signatures.js';
import { markedSystemText, objectText, partsOf } from '../kernel-parts.js';
import { UnsupportedRequest } from '../provider.js';
import { functionResponse, geminiPart } from './gemini-parts.js';
import { earlierThoughts, THOUGHT_SIGNATURES } from './thought-signatures.js';

export interface GeminiPrompt {
  /** JSON text; null: none. */
  readonly systemInstruction: string | null;
  readonly contents: string;
  /** Thoughts of the history are not sent. */
  readonly losesThoughts: boolean;
}

interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** The path of its id. */
  readonly at: string;
}

interface Turn {
  readonly role: 'user' | 'model';
  /** JSON text. */
  readonly parts: string[];
  readonly calls: WrittenCall[];
  /** By the id of the call, of the turn before this one. */
  readonly results: Map<string, string>;
}

export function promptForGemini(messages: readonly ChatMessage[], endpoint: ChatEndpoint): GeminiPrompt {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const system = first === -1 ? messages : messages.slice(0, first);
  const writer = new ContentsWriter(endpoint);
  for (const [index, message] of messages.entries())
    if (index >= system.length) writer.add(message, `messages[${index}]`);
  const instructions = system.flatMap((message, index) => partTexts(message, `messages[${index}]`));
  return {
    systemInstruction: instructions.length === 0 ? null : `{"parts":[${instructions.join(',')}]}`,
    contents: writer.finish(`messages[${messages.length - 1}]`),
    losesThoughts: writer.losesThoughts,
  };
}

class ContentsWriter {
  losesThoughts = false;
  private readonly turns: Turn[] = [];

  constructor(private readonly endpoint: ChatEndpoint) {}

  add(message: ChatMessage, at: string): void {
    switch (message.role) {
      case 'assistant':
        this.addAssistant(message, at);
        break;
      case 'tool':
        this.addResult(message, at);
        break;
      case 'user':
        this.turn('user', partTexts(message, at));
        break;
      default:
        this.turn('user', [JSON.stringify({ text: markedSystemText(message) })]);
    }
  }

  /** `last`: the path of the last message. */
  finish(last: string): string {
    const { turns } = this;
    if (turns.length === 0)
      throw new UnsupportedRequest('messages', 'must have a message that is not of the system');
    if (turns.at(-1)?.role === 'model')
      throw new UnsupportedRequest(last, 'must not be of the assistant: the endpoint continues no answer');
    const written = turns.map(({ role, parts, results }, index) => {
      const calls = turns[index - 1]?.calls ?? [];
      const all = [...calls.map((call) => resultOf(call, results)), ...parts];
      return `{"role":"${role}","parts":[${all.join(',')}]}`;
    });
    return `[${written.join(',')}]`;
  }

  private addAssistant(message: ChatMessage, at: string): void {
    const { body, toolCalls } = message;
    const thoughts = earlierThoughts(body['reasoning_details']);
    this.losesThoughts ||= thoughts.isLost;
    const { tool_calls: signed } = withSignedCalls(body, THOUGHT_SIGNATURES, this.endpoint);
    const calls = toolCalls.map(({ name, id, arguments: text }, index) => {
      const path = `${at}.tool_calls[${index}]`;
      const start = JSON.stringify({ id, name }).slice(0, -1);
      const args = objectText(text, `${path}.function.arguments`);
      const own = isArray(signed) ? signed[index] : null;
      const signature = isObject(own) ? THOUGHT_SIGNATURES.read(own) : null;
      const after = signature === null ? '' : `,"thoughtSignature":${JSON.stringify(signature)}`;
      return `{"functionCall":${start},"args":${args}}${after}}`;
    });
    const { refusal } = body;
    const texts = [
      ...partTexts(message, at),
      ...(typeof refusal === 'string' && refusal !== '' ? [JSON.stringify({ text: refusal })] : []),
    ];
    const turn = this.turn('model', [...withSignature(texts, thoughts.textSignature), ...calls]);
    turn?.calls.push(
      ...toolCalls.map(({ id, name }, index) => ({ id, name, at: `${at}.tool_calls[${index}].id` })),
    );
  }

  private addResult({ toolCallId, content, body }: ChatMessage, at: string): void {
    const answers = this.turns.findLast(({ role }) => role === 'model');
    const call = answers?.calls.find(({ id }) => id === toolCallId);
    if (call === undefined)
      throw new UnsupportedRequest(`${at}.tool_call_id`, 'must be the id of a call of the turn before it');
    const media: string[] = [];
    const texts: string[] = [];
    for (const [index, part] of partsOf(content).entries())
      if (part.type === 'text') texts.push(part.text);
      else media.push(JSON.stringify(geminiPart(part, `${at}.content[${index}]`)));
    const { id, name } = call;
    const result = functionResponse({ id, name }, texts.join('\n'), body['is_error'] === true);
    const results = this.resultsAfter(answers);
    if (results.has(id))
      throw new UnsupportedRequest(`${at}.tool_call_id`, 'names a second result of this call');
    results.set(id, result);
    this.turn('user', media);
  }

  /** Of the turn behind this one. */
  private resultsAfter(turn: Turn | undefined): Turn['results'] {
    if (this.turns.at(-1) === turn) this.turns.push(newTurn('user'));
    return this.turns.at(-1)?.results ?? new Map();
  }

  /** Neighbours of one role are one turn. Undefined: there is nothing to add. */
  private turn(role: Turn['role'], parts: readonly string[]): Turn | undefined {
    if (parts.length === 0) return undefined;
    let turn = this.turns.at(-1);
    if (turn?.role !== role) this.turns.push((turn = newTurn(role)));
    turn.parts.push(...parts);
    return turn;
  }
}

function newTurn(role: Turn['role']): Turn {
  return { role, parts: [], calls: [], results: new Map() };
}

function resultOf({ id, at }: WrittenCall, results: Turn['results']): string {
  const result = results.get(id);
  if (result === undefined) throw new UnsupportedRequest(at, 'this call has no result');
  return result;
}

function partTexts({ content }: ChatMessage, at: string): string[] {
  return partsOf(content).flatMap((part, index) => {
    const written = geminiPart(part, `${at}.content[${index}]`);
    return written === null ? [] : [JSON.stringify(written)];
  });
}

/** On the last text; an answer without one has it in an empty text. */
function withSignature(texts: readonly string[], thoughtSignature: string | null): readonly string[] {
  if (thoughtSignature === null) return texts;
  const last = texts.at(-1) ?? '{"text":""}';
  return [...texts.slice(0, -1), JSON.stringify({ ...(JSON.parse(last) as object), thoughtSignature })];
}
