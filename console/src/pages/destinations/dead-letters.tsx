// Generations that the platform rejected, and sending them again.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DESTINATIONS, loadDeadLetters, replayDeliveries } from '../../api/destinations';
import type { DeadLetter, DestinationDeliveries } from '../../api/destinations';
import { messageOf } from '../../api/problems';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import type { CursorPage } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Time } from '../../components/display/values';
import { platformWords } from '../../components/feedback/platform-words';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { abbreviate, formatCountOf } from '../../format';
import styles from './destinations.module.css';

const REASONS: Readonly<Record<DeadLetter['reason'], string>> = {
  refused: 'Rejected',
  too_large: 'Too large',
};

function columnsOf(
  chosen: ReadonlySet<string>,
  toggle: ((generation: string) => void) | null,
): readonly Column<DeadLetter>[] {
  return [
    {
      id: 'choose',
      header: 'Choose',
      isHeaderHidden: true,
      cell: (letter) =>
        toggle !== null &&
        isReplayable(letter) && (
          <input
            type="checkbox"
            aria-label={`Choose ${abbreviate(letter.generation_id)}`}
            checked={chosen.has(letter.generation_id)}
            onChange={() => toggle(letter.generation_id)}
          />
        ),
    },
    {
      id: 'generation',
      header: 'Generation',
      cell: ({ generation_id: generation }) => (
        <Link to="/generations/$id" params={{ id: generation }}>
          <code className={styles.whole}>{abbreviate(generation)}</code>
        </Link>
      ),
    },
    { id: 'reason', header: 'State', cell: (letter) => <LetterState letter={letter} /> },
    {
      id: 'message',
      header: 'The platform said',
      cell: ({ message, replay_result: result }) =>
        result !== 'delivered' && (
          <bdi className={styles.message} title={message}>
            {platformWords(message)}
          </bdi>
        ),
    },
    {
      id: 'called',
      header: 'Called',
      priority: 3,
      cell: ({ generation_created_at: at }) => <Time at={at} />,
    },
    {
      id: 'at',
      header: 'Rejected',
      priority: 2,
      cell: ({ created_at: at }) => <Time at={at} isRelative isPast />,
    },
  ];
}

const isReplayable = ({ replay_requested: isQueued, replay_result: result }: DeadLetter): boolean =>
  !isQueued && result !== 'delivered';

function LetterState({ letter }: { readonly letter: DeadLetter }) {
  const { replayed_at: at } = letter;
  return (
    <span className={styles.letterState}>
      <LetterBadge letter={letter} />
      {at !== null && (
        <span className={styles.second}>
          replayed <Time at={at} isRelative isPast />
        </span>
      )}
    </span>
  );
}

function LetterBadge({ letter }: { readonly letter: DeadLetter }) {
  const { replay_requested: isQueued, replay_result: result, reason } = letter;
  if (isQueued) return <Badge tone="accent">Queued</Badge>;
  if (result === 'delivered') return <Badge tone="good">Delivered after replay</Badge>;
  if (result === 'rejected') return <Badge tone="bad">Rejected again</Badge>;
  return <Badge tone="bad">{REASONS[reason]}</Badge>;
}

interface DeadLettersProps {
  readonly id: string;
  readonly canReplay: boolean;
  /** False: newer ones are not looked for. */
  readonly isLive: boolean;
  /** Undefined while it loads. */
  readonly status: DestinationDeliveries['status'] | undefined;
}

const EMPTY: Readonly<Record<DestinationDeliveries['status'], string>> = {
  active: 'The platform has rejected no generation in the last 7 days.',
  retrying:
    'The platform does not answer. Generations wait for it, and none was rejected in the last 7 days.',
  paused: 'The platform refuses every request. Generations wait until it takes them, or expire after a day.',
  disabled: 'Nothing is delivered while the destination is disabled.',
};

export function DeadLetters({ id, canReplay, isLive, status }: DeadLettersProps) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const pages = useHeldPages({
    queryKey: [...DESTINATIONS, id, 'dead-letters'],
    load: (cursor, signal) => loadDeadLetters(id, cursor, signal),
    rowKey: (letter: DeadLetter) => letter.generation_id,
    isLive,
  });
  const replay = useMutation({
    mutationFn: (sent: readonly string[]) => replayDeliveries(id, { dead_letters: [...sent] }),
    onSuccess: async (count, sent) => {
      setChosen((former) => new Set([...former].filter((generation) => !sent.includes(generation))));
      showToast({ tone: 'good', text: `Sent again: ${formatCountOf(count ?? 0, 'dead letter')}.` });
      // The rows stay, and show their results.
      await client.invalidateQueries({ queryKey: [...DESTINATIONS, id] });
    },
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  const toggle = (generation: string) => {
    const next = new Set(chosen);
    if (!next.delete(generation)) next.add(generation);
    setChosen(next);
  };
  const columns = columnsOf(chosen, canReplay ? toggle : null);
  return (
    <Section
      title="Dead letters"
      description="Generations that the platform rejected for good. They are kept for 7 days."
      isFlush
      actions={
        <>
          {chosen.size > 0 && (
            <Button isBusy={replay.isPending} onClick={() => replay.mutate([...chosen])}>
              Replay {chosen.size} chosen
            </Button>
          )}
          <RefreshButton pages={pages} />
        </>
      }
    >
      {pages.error && pages.rows === undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refresh} />
      ) : (
        <DataTable
          caption="List of dead letters"
          columns={columns}
          rows={pages.rows?.map((letter) => currentLetter(letter, pages.newest))}
          rowKey={(letter) => letter.generation_id}
          empty={<EmptyState title="No dead letter">{status && EMPTY[status]}</EmptyState>}
          footer={<ListFoot pages={pages} noun="dead letters" />}
        />
      )}
    </Section>
  );
}

/** Its newest state. Letters older than the newest page are not followed. */
function currentLetter(letter: DeadLetter, newest: CursorPage<DeadLetter> | undefined): DeadLetter {
  return newest?.data.find(({ generation_id: id }) => id === letter.generation_id) ?? letter;
}
