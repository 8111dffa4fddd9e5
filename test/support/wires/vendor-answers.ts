// One answer in OpenAI's and Anthropic's wires.
import { delta } from '../chat/chat-events.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messagesEvent,
  messageStart,
  MESSAGE_STOP,
  textBlock,
} from '../messages/messages-stub.js';
import { answerEvents, eventText, itemOf, responseObject } from '../responses/responses-events.js';
import type { OutputSpec } from '../responses/responses-events.js';
import { argumentsOf, EVENTS, halves, hasCall, PROMPT, textOf, thoughtOf, TOKENS } from './pieces.js';
import type { Call, Members, Piece, WireAnswer } from './pieces.js';

const CHAT_USAGE = {
  prompt_tokens: PROMPT,
  completion_tokens: TOKENS.made,
  total_tokens: PROMPT + TOKENS.made,
  prompt_tokens_details: { cached_tokens: TOKENS.cached },
};
const chatCall = (piece: Call, text: string): Members => ({
  id: piece.id,
  type: 'function',
  function: { name: piece.name, arguments: text },
});
const dataEvent = (data: unknown): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

export const CHAT: WireAnswer = {
  whole: (pieces) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'plain-stub',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: textOf(pieces),
          ...(thoughtOf(pieces) !== '' && { reasoning: thoughtOf(pieces) }),
          ...(hasCall(pieces) && {
            tool_calls: pieces.flatMap((piece) =>
              piece.kind === 'call' ? [chatCall(piece, argumentsOf(piece))] : [],
            ),
          }),
        },
        finish_reason: hasCall(pieces) ? 'tool_calls' : 'stop',
      },
    ],
    usage: CHAT_USAGE,
  }),
  parts: (pieces) => {
    let calls = 0;
    const events = pieces.flatMap((piece): object[] => {
      if (piece.kind === 'thought') return halves(piece.text).map((reasoning) => delta({ reasoning }));
      if (piece.kind === 'text') return piece.deltas.map((content) => delta({ content }));
      const [first, second] = halves(argumentsOf(piece));
      const index = calls++;
      return [
        delta({ tool_calls: [{ index, ...chatCall(piece, first) }] }),
        delta({ tool_calls: [{ index, function: { arguments: second } }] }),
      ];
    });
    return [
      delta({ role: 'assistant', content: '' }),
      ...events,
      delta({}, hasCall(pieces) ? 'tool_calls' : 'stop'),
      { ...delta({}), choices: [], usage: CHAT_USAGE },
      '[DONE]',
    ].map(dataEvent);
  },
  failure: dataEvent({ error: { message: 'The server is overloaded', code: 503 } }),
  refusal: { error: { message: 'Slow down', type: 'rate_limit_error', param: null, code: 'rate_limit' } },
  proof: null,
  contentType: EVENTS,
};

const MESSAGES_USAGE = {
  input_tokens: TOKENS.fresh,
  cache_read_input_tokens: TOKENS.cached,
  cache_creation_input_tokens: 0,
  output_tokens: TOKENS.made,
};
const MESSAGES_PROOF = 'sig-of-the-thought';

export function messagesEvents(pieces: readonly Piece[]): Members[] {
  const blocks = pieces.flatMap((piece, index): Members[] => {
    switch (piece.kind) {
      case 'thought':
        return [
          blockStart(index, { type: 'thinking', thinking: '', signature: '' }),
          ...halves(piece.text).map((thinking) => blockDelta(index, { type: 'thinking_delta', thinking })),
          blockDelta(index, { type: 'signature_delta', signature: MESSAGES_PROOF }),
          blockStop(index),
        ];
      case 'text':
        return textBlock(index, ...piece.deltas);
      case 'call':
        return [
          blockStart(index, { type: 'tool_use', id: piece.id, name: piece.name, input: {} }),
          ...halves(argumentsOf(piece)).map((text) =>
            blockDelta(index, { type: 'input_json_delta', partial_json: text }),
          ),
          blockStop(index),
        ];
    }
  });
  return [
    messageStart({ ...MESSAGES_USAGE, output_tokens: 1 }),
    ...blocks,
    messageDelta(hasCall(pieces) ? 'tool_use' : 'end_turn', { output_tokens: TOKENS.made }),
    MESSAGE_STOP,
  ];
}

export const MESSAGES: WireAnswer = {
  whole: (pieces) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: pieces.map((piece) => {
      if (piece.kind === 'thought')
        return { type: 'thinking', thinking: piece.text, signature: MESSAGES_PROOF };
      if (piece.kind === 'text') return { type: 'text', text: piece.deltas.join('') };
      return { type: 'tool_use', id: piece.id, name: piece.name, input: piece.input };
    }),
    stop_reason: hasCall(pieces) ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: MESSAGES_USAGE,
  }),
  parts: (pieces) => messagesEvents(pieces).map(messagesEvent),
  failure: messagesEvent({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  refusal: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } },
  proof: MESSAGES_PROOF,
  contentType: EVENTS,
};

const RESPONSES_USAGE = {
  input_tokens: PROMPT,
  input_tokens_details: { cached_tokens: TOKENS.cached },
  output_tokens: TOKENS.made,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: PROMPT + TOKENS.made,
};
const RESPONSES_PROOF = 'gAAAA-of-the-thought';

const specsOf = (pieces: readonly Piece[]): readonly OutputSpec[] =>
  pieces.map((piece) => {
    if (piece.kind === 'thought')
      return { type: 'reasoning', summary: [halves(piece.text)], encrypted: RESPONSES_PROOF };
    if (piece.kind === 'text') return { type: 'message', deltas: piece.deltas };
    return {
      type: 'function_call',
      callId: piece.id,
      name: piece.name,
      deltas: halves(argumentsOf(piece)),
    };
  });

export const RESPONSES: WireAnswer = {
  whole: (pieces) => {
    const items = specsOf(pieces).map((spec, index) => itemOf(spec, index));
    return responseObject('completed', items, { usage: RESPONSES_USAGE });
  },
  parts: (pieces) => answerEvents(specsOf(pieces), { usage: RESPONSES_USAGE }).map(eventText),
  failure: eventText({
    type: 'error',
    sequence_number: 99,
    code: 'server_error',
    message: 'The server had an error',
    param: null,
  }),
  refusal: CHAT.refusal,
  proof: RESPONSES_PROOF,
  contentType: EVENTS,
};
