// Inputs and answer of a call, where they are stored and the key may read them. They load on request only.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { generationContentQuery } from '../../api/generations';
import type { GenerationContent } from '../../api/generations';
import { Button } from '../../components/actions/button';
import { ToolCalls } from '../../components/data/tool-calls';
import type { ShownToolCall } from '../../components/data/tool-calls';
import { Message, MessageText, Reasoning } from '../../components/display/message';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import styles from './generations.module.css';

interface ContentProps {
  readonly id: string;
  readonly isChat: boolean;
}

export function Content({ id, isChat }: ContentProps) {
  const [isShown, setShown] = useState(false);
  const { data, error, refetch } = useQuery({ ...generationContentQuery(id), enabled: isShown });
  return (
    <Section
      title="Content"
      description="Inputs and answers are stored, encrypted, only while a destination needs them, and for 24 hours at most."
      actions={!isShown && <Button onClick={() => setShown(true)}>Show content</Button>}
    >
      {!isShown && <p className={styles.deliveryText}>Not loaded.</p>}
      {isShown &&
        data === undefined &&
        (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Placeholder />)}
      {data === null && <EmptyState title="No content is stored for this call" />}
      {data && <ContentView content={data} isChat={isChat} />}
    </Section>
  );
}

interface ContentViewProps {
  readonly content: GenerationContent;
  readonly isChat: boolean;
}

function ContentView({ content, isChat }: ContentViewProps) {
  const { input, output, error } = content;
  const { tool_calls: answerCalls = [] } = output;
  const messages = 'prompt' in input ? [{ role: 'user', content: input.prompt }] : input.messages;
  return (
    <div className={styles.contents}>
      {content.is_truncated && <Notice tone="info">The stored content is cut.</Notice>}
      {/* Messages have no id; their order never changes. */}
      {messages.map((message, index) =>
        isChat ? (
          <InputMessage key={index} message={message} />
        ) : (
          <InputText key={index} text={textOf(message.content)} />
        ),
      )}
      {(output.completion !== null || output.reasoning !== null || answerCalls.length > 0) && (
        <Message who="Answer">
          {output.reasoning !== null && <Reasoning text={output.reasoning} />}
          {output.completion !== null && <MessageText text={output.completion} />}
          <ToolCalls calls={answerCalls.map(toShownCall)} />
        </Message>
      )}
      {error?.message && <Notice tone="bad">{error.message}</Notice>}
    </div>
  );
}

function InputText({ text }: { readonly text: string }) {
  return (
    <pre className={styles.content} dir="auto" tabIndex={0} role="group" aria-label="Input">
      {text}
    </pre>
  );
}

type InputMessageDto = Extract<GenerationContent['input'], { messages: unknown }>['messages'][number];

const WRITERS: Readonly<Record<string, string>> = {
  system: 'System',
  developer: 'Developer',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Result of a tool',
};

function InputMessage({ message }: { readonly message: InputMessageDto }) {
  const { role, content, name, tool_calls: calls = [] } = message;
  const who = WRITERS[role] ?? role;
  const text = textOf(content);
  return (
    <Message who={name === undefined ? who : `${who}, ${name}`} isOwn={role !== 'assistant'}>
      {text !== '' && <MessageText text={text} />}
      <ToolCalls calls={calls.map(toShownCall)} />
    </Message>
  );
}

/** Parts that are no texts, and tokens, are shown as they are stored. */
function textOf(content: InputMessageDto['content']): string {
  if (content === null) return '';
  if (typeof content === 'string') return content;
  return content
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : JSON.stringify(part),
    )
    .join('\n');
}

type StoredToolCall = NonNullable<GenerationContent['output']['tool_calls']>[number];

function toShownCall({ id, function: { name, arguments: values } }: StoredToolCall): ShownToolCall {
  return { id, name, arguments: values };
}
