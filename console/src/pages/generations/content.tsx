// Inputs and answer of a call, where they are stored and the key may read them. They load on request only.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { generationContentQuery } from '../../api/generations';
import type { GenerationContent } from '../../api/generations';
import { Button } from '../../components/actions/button';
import { ChoiceButtons } from '../../components/actions/choice-buttons';
import { CodeBlock } from '../../components/data/code-block';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { Image } from '../../components/message/image';
import {
  Message,
  MessageText,
  Reasoning,
  TEXT_FORMS,
  TextFormContext,
} from '../../components/message/message';
import type { TextForm } from '../../components/message/message';
import { ToolCalls } from '../../components/message/tool-calls';
import styles from './generations.module.css';
import { textOf, threadOf } from './thread';
import type { ThreadMessage } from './thread';

interface ContentProps {
  readonly id: string;
  readonly isChat: boolean;
}

type View = TextForm | 'json';

const VIEWS = [...TEXT_FORMS, { value: 'json', label: 'JSON' }] as const;

export function Content({ id, isChat }: ContentProps) {
  const [isShown, setShown] = useState(false);
  const [view, setView] = useState<View>(isChat ? 'formatted' : 'raw');
  const { data, error, refetch } = useQuery({ ...generationContentQuery(id), enabled: isShown });
  return (
    <Section
      title="Content"
      description="Inputs and answers are stored, encrypted, only while a destination needs them, and for 24 hours at most."
      actions={
        isShown ? (
          data && (
            <ChoiceButtons
              label="View of the content"
              // Texts that are embedded have no format.
              choices={isChat ? VIEWS : VIEWS.filter(({ value }) => value !== 'formatted')}
              chosen={view}
              onChoose={setView}
            />
          )
        ) : (
          <Button onClick={() => setShown(true)}>Show content</Button>
        )
      }
    >
      {!isShown && <p className={styles.deliveryText}>Not loaded.</p>}
      {isShown &&
        data === undefined &&
        (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Placeholder />)}
      {data === null && <EmptyState title="No content is stored for this call" />}
      {data &&
        (view === 'json' ? (
          <CodeBlock code={JSON.stringify(data, null, 2)} what="content" />
        ) : (
          <TextFormContext value={view}>
            <ContentView content={data} isChat={isChat} />
          </TextFormContext>
        ))}
    </Section>
  );
}

interface ContentViewProps {
  readonly content: GenerationContent;
  readonly isChat: boolean;
}

function ContentView({ content, isChat }: ContentViewProps) {
  const { input, error } = content;
  const { results } = content.output;
  return (
    <div className={styles.contents}>
      {content.is_truncated && <Notice tone="info">The stored content is cut.</Notice>}
      {/* Messages have no id; their order never changes. */}
      {isChat
        ? threadOf(content).map((message, index) => <MessageView key={index} message={message} />)
        : ('prompt' in input ? [input.prompt] : input.messages.map((message) => textOf(message.content))).map(
            (text, index) => <InputText key={index} text={text} />,
          )}
      {results && <Results results={results} documents={documentsOf(content)} />}
      {error?.message && <Notice tone="bad">{error.message}</Notice>}
    </div>
  );
}

function MessageView({
  message: { who, isOwn, reasoning, parts, calls },
}: {
  readonly message: ThreadMessage;
}) {
  return (
    <Message who={who} isOwn={isOwn}>
      {reasoning !== null && <Reasoning text={reasoning} />}
      {parts.map(({ kind, text }, index) =>
        kind === 'image' ? (
          <Image key={index} url={text} description="" />
        ) : (
          <MessageText key={index} text={text} />
        ),
      )}
      <ToolCalls calls={calls} />
    </Message>
  );
}

/** The query comes before the documents. */
function documentsOf({ input }: GenerationContent): readonly string[] {
  return 'prompt' in input ? [] : input.messages.slice(1).map((message) => textOf(message.content));
}

interface ResultsProps {
  readonly results: NonNullable<GenerationContent['output']['results']>;
  readonly documents: readonly string[];
}

/** The best first. Documents are numbered from 0, as in the answer. */
function Results({ results, documents }: ResultsProps) {
  return (
    <table className={styles.cost}>
      <caption className="visually-hidden">Results, the best first</caption>
      <thead>
        <tr>
          <th scope="col">Document</th>
          <th scope="col">Score</th>
        </tr>
      </thead>
      <tbody>
        {results.map(({ index, relevance_score: score }) => (
          <tr key={index}>
            <th scope="row">
              {index} <bdi>{documents[index]}</bdi>
            </th>
            <td>{score}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function InputText({ text }: { readonly text: string }) {
  return (
    <pre className={styles.content} dir="auto" tabIndex={0} role="group" aria-label="Input">
      {text}
    </pre>
  );
}
