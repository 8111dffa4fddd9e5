// Finds a call, key, session or user of the account by its id. One list, which the arrow keys walk.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { searchQuery } from '../../api/search';
import type { Found } from '../../api/search';
import { workspacesQuery } from '../../api/workspaces';
import { StatusBadge } from '../../components/display/badge';
import { Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState, Waiting } from '../../components/feedback/states';
import { useSettled } from '../../components/form/use-settled';
import { Dialog } from '../../components/overlay/dialog';
import { useSession } from '../workspace';
import { KINDS, MATCHES, targetOf } from './found';
import styles from './find.module.css';

const MAX_LENGTH = 1000;

export function FindDialog({ onClose }: { readonly onClose: () => void }) {
  const { workspace_id: own } = useSession();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [text, setText] = useState('');
  // Enter was pressed before the answer came.
  const isWaiting = useRef(false);
  const wanted = text.trim();
  const settled = useSettled(wanted);
  const { data: found, error, refetch } = useQuery(searchQuery(settled));
  const results = settled === wanted && wanted !== '' ? found : undefined;
  const go = (result: Found) => {
    onClose();
    void navigate(targetOf(result, own)).then(focusPage);
  };
  useEffect(() => {
    if (results === undefined) return;
    const [first] = results;
    if (isWaiting.current && first !== undefined) go(first);
    isWaiting.current = false;
  });
  /** Of the field and the results; the arrows walk them. */
  const move = (event: KeyboardEvent, step: number) => {
    event.preventDefault();
    const stops = [field.current, ...(list.current?.querySelectorAll('a') ?? [])];
    const at = stops.findIndex((stop) => stop === document.activeElement);
    stops[(at + step + stops.length) % stops.length]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(event, 1);
    if (event.key === 'ArrowUp') move(event, -1);
    if (event.key !== 'Enter' || event.target !== field.current || event.nativeEvent.isComposing) return;
    const [first] = results ?? [];
    if (first === undefined) isWaiting.current = wanted !== '';
    else go(first);
  };
  return (
    <Dialog title="Find anything" isOpen onClose={onClose} initialFocus={field}>
      <search className={styles.find}>
        <input
          ref={field}
          className={styles.input}
          type="search"
          aria-label="Id, key, session or user"
          placeholder="Id of a call or request, key, session, user"
          autoComplete="off"
          spellCheck={false}
          maxLength={MAX_LENGTH}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            isWaiting.current = false;
          }}
          onKeyDown={onKeyDown}
        />
        <div aria-live="polite">
          {wanted === '' ? (
            <Searched />
          ) : error !== null && results === undefined ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : results === undefined ? (
            <Waiting>Searching</Waiting>
          ) : (
            results.length === 0 && (
              <EmptyState title="Nothing found">
                <Searched />
              </EmptyState>
            )
          )}
        </div>
        {results !== undefined && results.length > 0 && (
          <ul ref={list} className={styles.results} aria-label="Found">
            {results.map((result, position) => (
              <li key={`${result.type} ${result.id} ${result.workspace_id} ${result.matched_by}`}>
                <Link
                  {...targetOf(result, own)}
                  className={styles.result}
                  onKeyDown={onKeyDown}
                  onClick={(event) => {
                    // A new tab leaves the search open.
                    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                    event.preventDefault();
                    go(result);
                  }}
                >
                  <Result result={result} isFirst={results[position - 1]?.type !== result.type} />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </search>
    </Dialog>
  );
}

/** The dialog would give the focus back to the page before. */
function focusPage(): void {
  setTimeout(() => document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true }));
}

const Searched = () => (
  <div className={styles.searched}>
    <p>
      Ids are found whole: of a generation, a request, a provider's answer, a session, a user, the hash of a
      key.
    </p>
    <p>Keys are found by a part of their name or label.</p>
    <p>All workspaces are searched, and all calls that are kept; of refused calls the newest 100.</p>
  </div>
);

function Result({ result, isFirst }: { readonly result: Found; readonly isFirst: boolean }) {
  const { workspace_id: own } = useSession();
  const { data: workspaces } = useQuery(workspacesQuery);
  const { type, id, workspace_id: workspace, created_at: at, matched_by: match } = result;
  const place = workspaces?.find((one) => one.id === workspace)?.name;
  return (
    <>
      <span className={styles.kind}>{isFirst && KINDS[type]}</span>
      <span className={styles.text}>
        <span className={styles.title}>
          <Name text={titleOf(result) ?? id} />
          {result.status !== null && <StatusBadge status={result.status} />}
        </span>
        <span className={styles.detail}>
          {type === 'key' ? 'Created' : type === 'session' || type === 'user' ? 'Newest call' : ''}{' '}
          <Time at={at} />
          {MATCHES[match] !== null && `, ${MATCHES[match]}`}
          {workspace !== own && place !== undefined && (
            <>
              , in <Name text={place} />
            </>
          )}
        </span>
      </span>
    </>
  );
}

function titleOf({ type, model, message, api_key_name: key, api_key_label: label }: Found): string | null {
  switch (type) {
    case 'generation':
      return model;
    case 'refusal':
      return message;
    case 'key':
      return `${key ?? ''} (${label ?? ''})`;
    case 'session':
    case 'user':
      return null;
  }
}
