// The inputs of a call, where they are stored and the key may read them. They load on request only.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { generationContentQuery } from '../../api/generations';
import type { GenerationContent } from '../../api/generations';
import { Button } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import styles from './generations.module.css';

export function Content({ id }: { readonly id: string }) {
  const [isShown, setShown] = useState(false);
  const { data, error, refetch } = useQuery({ ...generationContentQuery(id), enabled: isShown });
  return (
    <Section
      title="Content"
      description="Inputs are stored, encrypted, only while a destination needs them, and for 24 hours at most."
      actions={!isShown && <Button onClick={() => setShown(true)}>Show content</Button>}
    >
      {!isShown && <p className={styles.deliveryText}>Not loaded.</p>}
      {isShown &&
        data === undefined &&
        (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Placeholder />)}
      {data === null && <EmptyState title="No content is stored for this call" />}
      {data && <ContentView content={data} />}
    </Section>
  );
}

function ContentView({ content }: { readonly content: GenerationContent }) {
  return (
    <div className={styles.contents}>
      {content.is_truncated && <Notice tone="info">The stored content is cut.</Notice>}
      {textsOf(content.input).map((text, index) => (
        // Inputs have no id; their order never changes.
        <pre key={index} className={styles.content} dir="auto">
          {text}
        </pre>
      ))}
      {content.error?.message && <Notice tone="bad">{content.error.message}</Notice>}
    </div>
  );
}

function textsOf(input: GenerationContent['input']): readonly string[] {
  if ('prompt' in input) return [input.prompt];
  return input.messages.map(({ content }) =>
    typeof content === 'string' ? content : JSON.stringify(content),
  );
}
