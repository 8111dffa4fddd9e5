// One answer in the form of every provider's wire, whole and as the parts of a stream. All of them say the same, with the
// same tokens.
import { BEDROCK_MESSAGES, CONVERSE, GEMINI } from './cloud-answers.js';
import type { WireAnswer } from './pieces.js';
import { CHAT, MESSAGES, RESPONSES } from './vendor-answers.js';

export const WIRE_ANSWERS = {
  chat: CHAT,
  messages: MESSAGES,
  'bedrock-messages': BEDROCK_MESSAGES,
  responses: RESPONSES,
  gemini: GEMINI,
  converse: CONVERSE,
} satisfies Readonly<Record<string, WireAnswer>>;
export type AnswerWire = keyof typeof WIRE_ANSWERS;
