// Writes the next message: a text of the user, or the results of the tools that the model called.
import { useCallback, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { ToolCall } from '../../../api/chat-answer';
import { Button } from '../../../components/actions/button';
import { Form, TextAreaField } from '../../../components/form/form';
import type { ToolTurn, UserTurn } from './turns';
import styles from './chat.module.css';

interface ComposerProps {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
  /** Calls that wait for results. */
  readonly calls: readonly ToolCall[];
  readonly isRunning: boolean;
  /** Whether the turn was sent. The fields of one that was not keep their texts. */
  readonly onSend: (turn: UserTurn | ToolTurn) => boolean;
  readonly onStop: () => void;
}

export function Composer({ draft, onDraft, calls, isRunning, onSend, onStop }: ComposerProps) {
  const { field, followFocus, takeFocus } = useFirstField();
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const submit = () => {
    if (isRunning) return;
    if (calls.length > 0) {
      const turns = calls.map(({ id, name }) => ({ callId: id, name, text: results[id] ?? '' }));
      if (!onSend({ kind: 'tools', results: turns })) return;
      setResults({});
      takeFocus();
    } else if (draft.trim() !== '' && onSend({ kind: 'user', text: draft })) {
      onDraft('');
    }
  };
  return (
    <Form fields={[]} error={null} onSubmit={submit}>
      {calls.length > 0 ? (
        calls.map(({ id, name }, index) => (
          <TextAreaField
            key={id}
            ref={index === 0 ? followFocus : undefined}
            name={`result-${index}`}
            label={`Result of ${name.slice(0, 64)}`}
            hint="The model reads it as the answer of the tool."
            rows={3}
            dir="auto"
            isCode
            value={results[id] ?? ''}
            onKeyDown={sendOnEnter}
            onChange={({ target }) => setResults((former) => ({ ...former, [id]: target.value }))}
          />
        ))
      ) : (
        <TextAreaField
          ref={followFocus}
          name="message"
          label="Message"
          hint="Enter sends. Shift and Enter begin a new line."
          rows={3}
          dir="auto"
          value={draft}
          onKeyDown={sendOnEnter}
          onChange={({ target }) => onDraft(target.value)}
        />
      )}
      <div className={styles.buttons}>
        <Button type="submit" variant="primary" isBusy={isRunning}>
          {isRunning ? 'Answering…' : calls.length > 0 ? 'Send results' : 'Send'}
        </Button>
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
