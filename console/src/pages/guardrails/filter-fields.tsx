// The content filters of a guardrail as fields, and their trial on a text.
import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { tryFilters } from '../../api/guardrails';
import type { BuiltinFilter, ContentFilter, FilterAction } from '../../api/guardrails';
import { messageOf } from '../../api/problems';
import { Button, IconButton } from '../../components/actions/button';
import { Notice } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { ACTION_NAMES, ACTIONS, BUILTIN_NAMES, BUILTIN_SLUGS, nameOfFilter } from './guardrail-words';
import styles from './guardrails.module.css';

export interface Pattern extends Omit<ContentFilter, 'label'> {
  readonly id: number;
  readonly label: string;
}

export const readPatterns = (filters: readonly ContentFilter[]): readonly Pattern[] =>
  filters.map(({ pattern, action, label }, id) => ({ id, pattern, action, label: label ?? '' }));

/** Rows without a pattern are left out. */
export const patternsOf = (patterns: readonly Pattern[]): readonly ContentFilter[] =>
  patterns
    .filter(({ pattern }) => pattern !== '')
    .map(({ pattern, action, label }) => ({ pattern, action, label: label.trim() || null }));

interface ActionChoiceProps {
  readonly label: string;
  /** Null: the filter is off. */
  readonly action: FilterAction | null;
  readonly canBeOff?: boolean;
  readonly onChange: (action: FilterAction | null) => void;
}

function ActionChoice({ label, action, canBeOff = false, onChange }: ActionChoiceProps) {
  return (
    <select
      className={styles.control}
      aria-label={label}
      value={action ?? ''}
      onChange={({ target }) => onChange((target.value || null) as FilterAction | null)}
    >
      {canBeOff && <option value="">Off</option>}
      {ACTIONS.map((one) => (
        <option key={one} value={one}>
          {ACTION_NAMES[one]}
        </option>
      ))}
    </select>
  );
}

interface BuiltinFieldsProps {
  readonly filters: readonly BuiltinFilter[];
  readonly onChange: (filters: readonly BuiltinFilter[]) => void;
}

export function BuiltinFields({ filters, onChange }: BuiltinFieldsProps) {
  const change = (slug: BuiltinFilter['slug'], part: Partial<BuiltinFilter> | null) => {
    const former = filters.find((filter) => filter.slug === slug);
    const others = filters.filter((filter) => filter.slug !== slug);
    if (part === null) return onChange(others);
    onChange([...others, { slug, action: 'redact', scan_scope: 'all_messages', ...former, ...part }]);
  };
  return (
    <fieldset className={styles.lines}>
      <legend className={styles.legend}>Found by the service</legend>
      <div className={styles.builtins}>
        {BUILTIN_SLUGS.map((slug) => {
          const filter = filters.find((one) => one.slug === slug);
          return (
            <div key={slug} className={styles.builtin}>
              <span>{BUILTIN_NAMES[slug]}</span>
              <ActionChoice
                label={`Action for ${BUILTIN_NAMES[slug]}`}
                action={filter?.action ?? null}
                canBeOff
                onChange={(action) => change(slug, action && { action })}
              />
              {slug === 'regex-prompt-injection' && filter !== undefined && (
                <label className={styles.choice}>
                  <input
                    type="checkbox"
                    checked={filter.scan_scope === 'user_only'}
                    onChange={({ target }) =>
                      change(slug, { scan_scope: target.checked ? 'user_only' : 'all_messages' })
                    }
                  />
                  Only in messages of the user
                </label>
              )}
            </div>
          );
        })}
      </div>
    </fieldset>
  );
}

interface PatternFieldsProps {
  readonly patterns: readonly Pattern[];
  readonly onChange: (patterns: readonly Pattern[]) => void;
}

export function PatternFields({ patterns, onChange }: PatternFieldsProps) {
  const change = (id: number, part: Partial<Pattern>) =>
    onChange(patterns.map((pattern) => (pattern.id === id ? { ...pattern, ...part } : pattern)));
  const add = () => {
    const id = Math.max(-1, ...patterns.map((pattern) => pattern.id)) + 1;
    onChange([...patterns, { id, pattern: '', action: 'redact', label: '' }]);
  };
  return (
    <fieldset className={styles.lines}>
      <legend className={styles.legend}>Own patterns</legend>
      <p className={styles.hint}>
        Regular expressions of RE2. The label replaces a match, in brackets, and names the filter in refusals.
      </p>
      {patterns.map(({ id, pattern, action, label }, index) => (
        <div key={id} className={styles.pattern}>
          <input
            className={`${styles.control} ${styles.code}`}
            aria-label={`Pattern ${index + 1}`}
            placeholder="PROJ-[0-9]+"
            spellCheck={false}
            value={pattern}
            onChange={({ target }) => change(id, { pattern: target.value })}
          />
          <input
            className={styles.control}
            aria-label={`Label of pattern ${index + 1}`}
            placeholder="PROJECT"
            value={label}
            onChange={({ target }) => change(id, { label: target.value })}
          />
          <ActionChoice
            label={`Action of pattern ${index + 1}`}
            action={action}
            onChange={(next) => change(id, { action: next ?? 'redact' })}
          />
          <IconButton
            icon="close"
            label={`Remove pattern ${index + 1}`}
            onClick={() => onChange(patterns.filter((other) => other.id !== id))}
          />
        </div>
      ))}
      <div>
        <Button icon="plus" onClick={add}>
          Add pattern
        </Button>
      </div>
    </fieldset>
  );
}

interface FilterTrialBoxProps {
  readonly builtins: readonly BuiltinFilter[];
  readonly patterns: readonly Pattern[];
}

/** Tries the filters of the form, also those that are not saved. */
export function FilterTrialBox({ builtins, patterns }: FilterTrialBoxProps) {
  const id = useId();
  const [text, setText] = useState('');
  const trial = useMutation({ mutationFn: tryFilters });
  const body = {
    text,
    content_filters: [...patternsOf(patterns)],
    content_filter_builtins: [...builtins],
  };
  // The result of other filters, or of another text, would mislead.
  const isCurrent = JSON.stringify(trial.variables) === JSON.stringify(body);
  const result = isCurrent ? trial.data : undefined;
  return (
    <div className={styles.lines}>
      <label htmlFor={id} className={styles.legend}>
        Try the filters
      </label>
      <textarea
        id={id}
        className={styles.area}
        rows={3}
        maxLength={20_000}
        placeholder="Write to ann@example.com"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className={styles.trial}>
        <Button isBusy={trial.isPending} disabled={text === ''} onClick={() => trial.mutate(body)}>
          {trial.isPending ? 'Trying…' : 'Try'}
        </Button>
        <div role="status" className={styles.result}>
          {result !== undefined && (
            <>
              <p>
                {result.hit_count === 0
                  ? 'No filter matches.'
                  : `${result.hit_count === 1 ? 'One match' : `${formatCount(result.hit_count)} matches`}: ${[
                      ...new Set(result.hits.map(({ filter }) => nameOfFilter(filter))),
                    ].join(', ')}.`}
              </p>
              {result.sent_text === null ? (
                <p>A call with this text is refused.</p>
              ) : (
                result.hit_count > 0 && (
                  <p>
                    The model gets: <code className={styles.sent}>{result.sent_text}</code>
                  </p>
                )
              )}
            </>
          )}
        </div>
      </div>
      {isCurrent && trial.error !== null && <Notice tone="bad">{messageOf(trial.error)}</Notice>}
    </div>
  );
}
