// Writes the next message: a text of the user with images, or the results of the tools that the models called.
import { useCallback, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { messageOf } from '../../../api/problems';
import { Button, IconButton } from '../../../components/actions/button';
import { Notice } from '../../../components/feedback/states';
import { Form, TextAreaField } from '../../../components/form/form';
import { Image } from '../../../components/message/image';
import { IMAGE_TYPES, readImages } from './read-images';
import type { UserTurn } from './wires/turns';
import styles from './chat.module.css';

export type Draft = Pick<UserTurn, 'text' | 'images'>;

type Results = Readonly<Record<string, string>>;

interface ComposerProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly takesImages: boolean;
  /** Calls that wait for results. */
  readonly calls: readonly { readonly key: string; readonly name: string }[];
  readonly isRunning: boolean;
  /** Whether the draft was sent. One that was not stays. */
  readonly onSend: () => boolean;
  /** By the key of the call. */
  readonly onSendResults: (results: Results) => boolean;
  readonly onStop: () => void;
}

export function Composer(props: ComposerProps) {
  const { draft, onDraft, takesImages, calls, isRunning, onSend, onSendResults, onStop } = props;
  const { field, followFocus, takeFocus } = useFirstField();
  const [results, setResults] = useState<Results>({});
  const [problem, setProblem] = useState<string>();
  const { text, images } = draft;
  const submit = () => {
    if (isRunning) return;
    if (calls.length > 0) {
      if (!onSendResults(results)) return;
      setResults({});
      takeFocus();
    } else if (text.trim() !== '' || images.length > 0) onSend();
  };
  const attach = async (files: readonly File[]): Promise<void> => {
    try {
      const read = await readImages(files, images);
      setProblem(read.problem);
      onDraft({ text: field.current?.value ?? text, images: read.images });
    } catch (error) {
      setProblem(`The images cannot be read: ${messageOf(error)}`);
    }
  };
  return (
    <Form fields={[]} error={null} onSubmit={submit}>
      {calls.length > 0 ? (
        calls.map(({ key, name }, index) => (
          <TextAreaField
            key={key}
            ref={index === 0 ? followFocus : undefined}
            name={`result-${index}`}
            label={`Result of ${name.slice(0, 64)}`}
            hint="The model reads it as the answer of the tool."
            rows={3}
            dir="auto"
            isCode
            value={results[key] ?? ''}
            onKeyDown={sendOnEnter}
            onChange={({ target }) => setResults((former) => ({ ...former, [key]: target.value }))}
          />
        ))
      ) : (
        <>
          <TextAreaField
            ref={followFocus}
            name="message"
            label="Message"
            hint="Enter sends. Shift and Enter begin a new line."
            rows={3}
            dir="auto"
            value={text}
            onKeyDown={sendOnEnter}
            onChange={({ target }) => onDraft({ text: target.value, images })}
            onPaste={(event) => {
              if (!takesImages || event.clipboardData.files.length === 0) return;
              event.preventDefault();
              void attach([...event.clipboardData.files]);
            }}
          />
          {images.length > 0 && (
            <ul className={styles.images} aria-label="Images of the message">
              {images.map((image, position) => (
                <li key={image.url} className={styles.thumbnail}>
                  <Image url={image.url} description={image.name} />
                  <IconButton
                    icon="close"
                    label={`Remove ${image.name}`}
                    onClick={() => {
                      onDraft({ text, images: images.filter((_image, index) => index !== position) });
                      field.current?.focus();
                    }}
                  />
                </li>
              ))}
            </ul>
          )}
          {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
        </>
      )}
      <div className={styles.buttons}>
        <Button type="submit" variant="primary" isBusy={isRunning}>
          {isRunning ? 'Answering…' : calls.length > 0 ? 'Send results' : 'Send'}
        </Button>
        {takesImages && calls.length === 0 && <ImageButton onChoose={(files) => void attach(files)} />}
        {isRunning && (
          <Button
            icon="close"
            onClick={() => {
              onStop();
              // The button goes away, and takes the focus with it.
              field.current?.focus();
            }}
          >
            Stop
          </Button>
        )}
      </div>
    </Form>
  );
}

function ImageButton({ onChoose }: { readonly onChoose: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon="image" onClick={() => input.current?.click()}>
        Add images
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={IMAGE_TYPES.join(',')}
        aria-label="Images"
        onChange={({ target }) => {
          onChoose([...(target.files ?? [])]);
          // The same file may be chosen again.
          target.value = '';
        }}
      />
    </>
  );
}

/** The field that the form begins with: the message, or the first result. One takes over the focus from the other. */
function useFirstField() {
  const field = useRef<HTMLTextAreaElement>(null);
  const isFocusDue = useRef(false);
  const followFocus = useCallback((shown: HTMLTextAreaElement) => {
    field.current = shown;
    if (isFocusDue.current) shown.focus();
    isFocusDue.current = false;
    // It is still in the page, with the focus.
    return () => {
      if (shown.form?.contains(document.activeElement) === true) isFocusDue.current = true;
    };
  }, []);
  const takeFocus = useCallback(() => {
    isFocusDue.current = true;
  }, []);
  return { field, followFocus, takeFocus };
}

function sendOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  // Enter confirms the choice of an input method first.
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
