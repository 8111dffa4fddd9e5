// One answer in Amazon's and Google's wires.
import { chunkFrame, eventFrame, exceptionFrame } from '../bedrock/frames.js';
import { geminiChunk, SIGNATURE } from '../gemini/gemini-stub.js';
import { argumentsOf, EVENTS, halves, hasCall, PROMPT, TOKENS } from './pieces.js';
import type { Members, Piece, WireAnswer } from './pieces.js';
import { MESSAGES, messagesEvents } from './vendor-answers.js';

const FRAMES = 'application/vnd.amazon.eventstream';
/** Claude's wire in the frames of its cloud. */
export const BEDROCK_MESSAGES: WireAnswer = {
  ...MESSAGES,
  parts: (pieces) => messagesEvents(pieces).map(chunkFrame),
  failure: exceptionFrame('throttlingException', 'Too many requests'),
  refusal: { message: 'Too many requests' },
  contentType: FRAMES,
};

const CONVERSE_USAGE = {
  inputTokens: TOKENS.fresh,
  cacheReadInputTokens: TOKENS.cached,
  outputTokens: TOKENS.made,
  totalTokens: PROMPT + TOKENS.made,
};
const CONVERSE_PROOF = 'c2lnLW9mLWNvbnZlcnNl';

export const CONVERSE: WireAnswer = {
  whole: (pieces) => ({
    output: {
      message: {
        role: 'assistant',
        content: pieces.map((piece) => {
          if (piece.kind === 'thought')
            return {
              reasoningContent: { reasoningText: { text: piece.text, signature: CONVERSE_PROOF } },
            };
          if (piece.kind === 'text') return { text: piece.deltas.join('') };
          return { toolUse: { toolUseId: piece.id, name: piece.name, input: piece.input } };
        }),
      },
    },
    stopReason: hasCall(pieces) ? 'tool_use' : 'end_turn',
    usage: CONVERSE_USAGE,
    metrics: { latencyMs: 10 },
  }),
  parts: (pieces) => [
    eventFrame('messageStart', { role: 'assistant' }),
    ...pieces.flatMap((piece, contentBlockIndex) => {
      const deltaFrame = (members: Members): Buffer =>
        eventFrame('contentBlockDelta', { contentBlockIndex, delta: members });
      const stop = eventFrame('contentBlockStop', { contentBlockIndex });
      if (piece.kind === 'thought')
        return [
          ...halves(piece.text).map((text) => deltaFrame({ reasoningContent: { text } })),
          deltaFrame({ reasoningContent: { signature: CONVERSE_PROOF } }),
          stop,
        ];
      if (piece.kind === 'text') return [...piece.deltas.map((text) => deltaFrame({ text })), stop];
      const toolUse = { toolUseId: piece.id, name: piece.name };
      return [
        eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse } }),
        ...halves(argumentsOf(piece)).map((input) => deltaFrame({ toolUse: { input } })),
        stop,
      ];
    }),
    eventFrame('messageStop', { stopReason: hasCall(pieces) ? 'tool_use' : 'end_turn' }),
    eventFrame('metadata', { usage: CONVERSE_USAGE, metrics: { latencyMs: 10 } }),
  ],
  failure: exceptionFrame('throttlingException', 'Too many requests'),
  refusal: { message: 'Too many requests' },
  proof: CONVERSE_PROOF,
  contentType: FRAMES,
};

/** Google counts thoughts beside the answer. */
const GEMINI_USAGE = {
  promptTokenCount: PROMPT,
  cachedContentTokenCount: TOKENS.cached,
  candidatesTokenCount: 15,
  thoughtsTokenCount: 5,
  totalTokenCount: PROMPT + TOKENS.made,
};

function geminiParts(piece: Piece): Members[] {
  if (piece.kind === 'thought') return halves(piece.text).map((text) => ({ text, thought: true }));
  if (piece.kind === 'text') return piece.deltas.map((text) => ({ text }));
  const { id, name, input } = piece;
  return [{ functionCall: { id, name, args: input }, thoughtSignature: SIGNATURE }];
}

const geminiEvent = (chunk: Members): string => `data: ${JSON.stringify(chunk)}\r\n\r\n`;

export const GEMINI: WireAnswer = {
  whole: (pieces) => geminiChunk(pieces.flatMap(geminiParts), { finishReason: 'STOP' }, GEMINI_USAGE),
  parts: (pieces) => [
    ...pieces
      .flatMap(geminiParts)
      .map((part) =>
        geminiEvent(geminiChunk([part], {}, { promptTokenCount: PROMPT, totalTokenCount: PROMPT })),
      ),
    geminiEvent(geminiChunk([{ text: '' }], { finishReason: 'STOP' }, GEMINI_USAGE)),
  ],
  failure: geminiEvent({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  refusal: { error: { code: 429, message: 'Resource has been exhausted.', status: 'RESOURCE_EXHAUSTED' } },
  proof: SIGNATURE,
  contentType: EVENTS,
};
