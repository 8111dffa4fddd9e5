// One message of a chat: who wrote it, and its text.
import { createContext, lazy, Suspense, useContext } from 'react';
import type { ReactNode } from 'react';
import { ChoiceButtons } from '../actions/choice-buttons';
import { Name } from '../display/values';
import styles from './message.module.css';

/** Formatted: Markdown as its writer means it. Raw: each character. */
export type TextForm = 'formatted' | 'raw';

/** How the messages below show their texts. */
export const TextFormContext = createContext<TextForm>('formatted');

export const TEXT_FORMS = [
  { value: 'formatted', label: 'Formatted' },
  { value: 'raw', label: 'Raw' },
] as const;

interface TextFormChoiceProps {
  readonly chosen: TextForm;
  readonly onChoose: (form: TextForm) => void;
}

export const TextFormChoice = (props: TextFormChoiceProps) => (
  <ChoiceButtons label="Texts" choices={TEXT_FORMS} {...props} />
);

interface MessageProps {
  readonly who: string;
  /** A message of the caller is shown at the other edge. */
  readonly isOwn?: boolean;
  /** Beside the name. */
  readonly badge?: ReactNode;
  readonly children: ReactNode;
}

export function Message({ who, isOwn = false, badge, children }: MessageProps) {
  return (
    <article className={`${styles.message} ${isOwn ? styles.own : ''}`} aria-label={who}>
      <header className={styles.who}>
        <Name text={who} />
        {badge}
      </header>
      {children}
    </article>
  );
}

// The parser takes seconds for some of the longest texts.
const MAX_FORMATTED = 100_000;

const Markdown = lazy(async () => {
  try {
    return { default: (await import('./markdown')).Markdown };
  } catch {
    // The conversation must not be lost with a part of the page.
    return { default: RawText };
  }
});

export function MessageText({ text }: { readonly text: string }) {
  const raw = <RawText text={text} />;
  if (useContext(TextFormContext) === 'raw' || text.length > MAX_FORMATTED) return raw;
  return (
    <Suspense fallback={raw}>
      <Markdown text={text} />
    </Suspense>
  );
}

function RawText({ text }: { readonly text: string }) {
  return (
    <p className={styles.text} dir="auto">
      {text}
    </p>
  );
}

/** Folded: it is long, and seldom read. */
export function Reasoning({ text }: { readonly text: string }) {
  return (
    <details className={styles.reasoning}>
      <summary>Reasoning</summary>
      <MessageText text={text} />
    </details>
  );
}
