// The messages, answers and tools of a chat as the flattened attributes of OpenInference, the only form in which its
// platforms show tool calls.
import { ends } from '../../domain/generations/chat-content.js';
import type { ContentMessage, ContentPart } from '../../domain/generations/chat-content.js';
import type { TracedChatContent } from '../../domain/generations/generation-trace.js';
import { cutTexts, shownAnswersOf } from '../shared/chat-forms.js';
import type { AnswerMessage } from '../shared/chat-forms.js';
import type { Attribute } from './any-value.js';

// `input.value` has all messages. The first and the last ones are listed as well.
const MAX_LISTED = 100;
const MAX_LISTED_TOOLS = 64;
// Characters of a text, so that the list is small beside `input.value`.
const MAX_TEXT_LENGTH = 8_192;

export function flattenedChat(content: TracedChatContent): readonly Attribute[] {
  const { messages, tools, choices } = cutTexts(
    { ...content, messages: ends(content.messages, MAX_LISTED) },
    MAX_TEXT_LENGTH,
  );
  return [
    ...messages.flatMap((message, index) => flattened(`llm.input_messages.${index}.message.`, message)),
    ...shownAnswersOf({ ...content, choices }).flatMap((answer, index) =>
      flattened(`llm.output_messages.${index}.message.`, answer),
    ),
    ...tools
      .slice(0, MAX_LISTED_TOOLS)
      .map((tool, index) => attribute(`llm.tools.${index}.tool.json_schema`, JSON.stringify(tool))),
  ];
}

function flattened(prefix: string, message: ContentMessage | AnswerMessage): readonly Attribute[] {
  const { role, content, tool_calls: calls = [] } = message;
  const { name, tool_call_id: answered } = message as Partial<ContentMessage>;
  return [
    attribute(`${prefix}role`, role),
    ...(typeof content === 'string' ? [attribute(`${prefix}content`, content)] : []),
    ...(Array.isArray(content) ? (content as readonly ContentPart[]).flatMap(partOf(prefix)) : []),
    ...(answered === undefined ? [] : [attribute(`${prefix}tool_call_id`, answered)]),
    ...(name === undefined ? [] : [attribute(`${prefix}name`, name)]),
    ...calls.flatMap((call, index) => {
      const start = `${prefix}tool_calls.${index}.tool_call.`;
      return [
        attribute(`${start}id`, call.id),
        attribute(`${start}function.name`, call.function.name),
        attribute(`${start}function.arguments`, call.function.arguments),
      ];
    }),
  ];
}

const partOf =
  (prefix: string) =>
  (part: ContentPart, index: number): readonly Attribute[] => {
    const start = `${prefix}contents.${index}.message_content.`;
    switch (part.type) {
      case 'text':
        return [attribute(`${start}type`, 'text'), attribute(`${start}text`, part.text)];
      case 'image_url':
        return [attribute(`${start}type`, 'image'), attribute(`${start}image.image.url`, part.image_url.url)];
      case 'video_url':
        return [attribute(`${start}type`, 'text'), attribute(`${start}text`, part.video_url.url)];
    }
  };

const attribute = (key: string, text: string): Attribute => ({ key, value: { stringValue: text } });
