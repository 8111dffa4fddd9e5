// The attempts of a call, one after the other, on the time of the whole call.
import type { Generation } from '../../api/generations';
import { Badge, StatusBadge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';
import { formatDuration } from '../../format';
import { editsInWords } from './call-route';
import styles from './generations.module.css';

type Attempt = NonNullable<Generation['provider_responses']>[number];

interface AttemptsProps {
  readonly attempts: readonly Attempt[];
  /** The latency of the whole call, in milliseconds. */
  readonly latency: number | null;
  readonly hasFailed: boolean;
}

export function Attempts({ attempts, latency, hasFailed }: AttemptsProps) {
  const atProviders = sumOfLatencies(attempts);
  const total = Math.max(latency ?? 0, atProviders, 1);
  const lines = attempts.map((attempt, index) => ({
    attempt,
    start: sumOfLatencies(attempts.slice(0, index)),
    number: index + 1,
    isAbsorbed: !hasFailed && isFailure(attempt),
  }));
  return (
    <Section
      title="Attempts"
      description={attempts.length > 1 ? 'In the order of the calls to providers.' : undefined}
    >
      {lines.length === 0 ? (
        <EmptyState title="No provider was called">
          {hasFailed ? 'The call failed before one was chosen.' : 'The answer came from the embedding cache.'}
        </EmptyState>
      ) : (
        <ol className={styles.waterfall}>
          {lines.map(({ attempt, start, number, isAbsorbed }) => (
            <li key={number} className={styles.attempt}>
              <span className={styles.attemptName}>
                {attempt.provider_name}
                {attempt.status === null ? (
                  <Badge tone="bad">No answer</Badge>
                ) : (
                  <StatusBadge status={attempt.status} />
                )}
                {/* A failure that a fallback absorbed is not an error of the call. */}
                {isAbsorbed && <Badge tone="neutral">Absorbed</Badge>}
              </span>
              <span className={styles.track} title={attempt.endpoint_id}>
                <Bar start={start} length={attempt.latency} total={total} isFailed={isFailure(attempt)} />
              </span>
              <span className={styles.duration}>{formatDuration(attempt.latency)}</span>
              <Edits edits={attempt.edits} />
            </li>
          ))}
          {latency !== null && latency > atProviders && (
            <li className={styles.attempt}>
              <span className={styles.attemptName}>This service</span>
              <span className={styles.track}>
                <Bar start={atProviders} length={latency - atProviders} total={total} isOwn />
              </span>
              <span className={styles.duration}>{formatDuration(latency - atProviders)}</span>
            </li>
          )}
        </ol>
      )}
    </Section>
  );
}

function Edits({ edits }: Pick<Attempt, 'edits'>) {
  const words = editsInWords(edits);
  return words !== null && <span className={styles.edits}>{words}</span>;
}

function sumOfLatencies(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { latency }) => sum + latency, 0);
}

function isFailure({ status }: Attempt): boolean {
  return status === null || status >= 400;
}

interface BarProps {
  readonly start: number;
  readonly length: number;
  readonly total: number;
  readonly isFailed?: boolean;
  readonly isOwn?: boolean;
}

function Bar({ start, length, total, isFailed = false, isOwn = false }: BarProps) {
  const kind = isOwn ? styles.own : isFailed ? styles.failed : '';
  return (
    <span
      className={`${styles.span} ${kind}`}
      style={{ insetInlineStart: `${(start / total) * 100}%`, width: `${(length / total) * 100}%` }}
    />
  );
}
