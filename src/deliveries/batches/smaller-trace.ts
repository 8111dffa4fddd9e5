// Takes content from a trace that is too large for its platform, step by step: the beginning of a conversation is worth more
// than none of it.
import { cutTexts } from '../../destination-kinds/shared/chat-forms.js';
import { mapTexts } from '../../domain/generations/chat-content.js';
import type { GenerationTrace, TracedChatContent } from '../../domain/generations/generation-trace.js';

// Factor of the longest text of a chat at each step, and the length in characters below which the whole content is omitted.
const SHRINKS_BY = 4;
const SHORTEST_TEXT = 256;

/** Whether smallerTrace() can take content from the trace. */
export function hasContent({ input, chat, rerank }: GenerationTrace): boolean {
  return (input !== null && input.items.length > 0) || Boolean(chat?.content ?? rerank?.content);
}

/** The trace with less content; null when it has none left. */
export function smallerTrace(trace: GenerationTrace): GenerationTrace | null {
  const { input, chat, rerank } = trace;
  if (input && input.items.length > 0) return { ...trace, input: { items: [], isTruncated: true } };
  if (rerank?.content) return { ...trace, rerank: { ...rerank, content: null } };
  return chat?.content ? { ...trace, chat: { ...chat, content: smallerContent(chat.content) } } : null;
}

function smallerContent(content: TracedChatContent): TracedChatContent | null {
  let longest = 0;
  mapTexts(content, (text) => {
    longest = Math.max(longest, text.length);
    return text;
  });
  const length = Math.floor(longest / SHRINKS_BY);
  if (length < SHORTEST_TEXT) return null;
  return { ...cutTexts(content, length), isInputTruncated: true, isOutputTruncated: true };
}
