// The messages and tools of a chat as Datadog reads them: every content is a text, never null.
import type { ChatContent, ContentMessage } from '../../domain/generations/chat-content.js';
import { argumentsOf, functionsOf, plainText } from './chat-forms.js';
import type { AnswerMessage } from './chat-forms.js';

export function datadogMessages(messages: readonly (ContentMessage | AnswerMessage)[]): readonly object[] {
  const names = new Map(
    messages.flatMap(({ tool_calls: calls = [] }) =>
      calls.map((call) => [call.id, call.function.name] as const),
    ),
  );
  return messages.map((message) => {
    const { role, content, tool_calls: calls = [] } = message;
    const { tool_call_id: answered } = message as Partial<ContentMessage>;
    const { reasoning } = message as Partial<AnswerMessage>;
    const text = plainText(content);
    return {
      role,
      content: text,
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map((call) => ({
              name: call.function.name,
              arguments: objectOf(call.function.arguments),
              tool_id: call.id,
              type: call.type,
            })),
          }),
      ...(answered === undefined
        ? {}
        : {
            tool_results: [
              { name: names.get(answered) ?? '', tool_id: answered, result: text, type: 'tool_result' },
            ],
          }),
    };
  });
}

/** The platform takes objects only: other arguments are kept as a text inside one. */
function objectOf(text: string): object {
  const value = argumentsOf(text);
  return typeof value === 'string' ? { text: value } : value;
}

export function toolDefinitions(tools: ChatContent['tools']): readonly object[] {
  return functionsOf(tools).map(({ name, description, parameters }) => ({
    name,
    description,
    schema: parameters,
  }));
}
