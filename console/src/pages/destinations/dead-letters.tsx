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
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { abbreviate, formatCountOf } from '../../format';
import styles from './destinations.module.css';

/** The state of a letter since the list was loaded; null: unchanged. */
type Outcome = 'queued' | 'delivered' | 'rejected' | null;

interface Row {
  readonly letter: DeadLetter;
  readonly outcome: Outcome;
}

const REASONS: Readonly<Record<DeadLetter['reason'], string>> = {
  refused: 'Refused',
  too_large: 'Too large',
};

function columnsOf(
  chosen: ReadonlySet<string>,
  toggle: (generation: string) => void,
): readonly Column<Row>[] {
  return [
    {
      id: 'choose',
      header: 'Choose',
      isHeaderHidden: true,
      cell: ({ letter: { generation_id: generation }, outcome }) =>
        (outcome === null || outcome === 'rejected') && (
          <input
            type="checkbox"
            aria-label={`Choose ${abbreviate(generation)}`}
            checked={chosen.has(generation)}
            onChange={() => toggle(generation)}
          />
        ),
    },
    {
      id: 'generation',
      header: 'Generation',
      cell: ({ letter: { generation_id: generation } }) => (
        <Link to="/generations/$id" params={{ id: generation }}>
          <code>{abbreviate(generation)}</code>
        </Link>
      ),
    },
    {
      id: 'reason',
      header: 'State',
      cell: ({ letter, outcome }) =>
        outcome === 'delivered' ? (
          <Badge tone="good">Delivered after replay</Badge>
        ) : outcome === 'queued' ? (
          <Badge tone="accent">Queued again</Badge>
        ) : outcome === 'rejected' ? (
          <Badge tone="bad">Rejected again</Badge>
        ) : (
          <Badge tone="bad">{REASONS[letter.reason]}</Badge>
        ),
    },
    {
      id: 'message',
      header: 'The platform said',
      cell: ({ letter: { message }, outcome }) =>
        outcome !== 'delivered' && (
          <bdi className={styles.message} title={message}>
            {message}
          </bdi>
        ),
    },
    {
      id: 'called',
      header: 'Called',
      priority: 3,
      cell: ({ letter }) => <Time at={letter.generation_created_at} />,
    },
    {
      id: 'at',
      header: 'Rejected',
      priority: 2,
      cell: ({ letter }) => <Time at={letter.created_at} isRelative isPast />,
    },
  ];
}

interface DeadLettersProps {
  readonly id: string;
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

export function DeadLetters({ id, isLive, status }: DeadLettersProps) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  /** Letters that were sent again since the list was loaded. */
  const [replayed, setReplayed] = useState<ReadonlySet<string>>(new Set());
  const pages = useHeldPages({
    queryKey: [...DESTINATIONS, id, 'dead-letters'],
    load: (cursor, signal) => loadDeadLetters(id, cursor, signal),
    rowKey: (letter: DeadLetter) => letter.generation_id,
    isLive,
  });
  const replay = useMutation({
    mutationFn: (sent: readonly string[]) => replayDeliveries(id, { dead_letters: [...sent] }),
    onSuccess: async (count, sent) => {
      setReplayed((former) => new Set([...former].filter((generation) => !sent.includes(generation))));
      setChosen((former) => new Set([...former].filter((generation) => !sent.includes(generation))));
      showToast({ tone: 'good', text: `Sent again: ${formatCountOf(count ?? 0, 'dead letter')}.` });
      // The rows stay, and show what becomes of them.
      await client.invalidateQueries({ queryKey: [...DESTINATIONS, id] });
      // From now on one that is not queued has been tried.
      setReplayed((former) => new Set([...former, ...sent]));
    },
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  // A replay of all letters is requested elsewhere.
  const queued = pages.newest?.data.filter(
    (letter) => letter.replay_requested && !replayed.has(letter.generation_id),
  );
  if (queued !== undefined && queued.length > 0)
    setReplayed(new Set([...replayed, ...queued.map((letter) => letter.generation_id)]));
  const toggle = (generation: string) => {
    const next = new Set(chosen);
    if (!next.delete(generation)) next.add(generation);
    setChosen(next);
  };
  const columns = columnsOf(chosen, toggle);
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
          rows={pages.rows?.map((letter) => currentRow(letter, pages.newest, replayed))}
          rowKey={({ letter }) => letter.generation_id}
          empty={<EmptyState title="No dead letter">{status && EMPTY[status]}</EmptyState>}
          footer={<ListFoot pages={pages} noun="dead letters" />}
        />
      )}
    </Section>
  );
}

/** A letter leaves the list when a replay delivers it. Letters older than the newest page are not followed. */
function currentRow(
  letter: DeadLetter,
  newest: CursorPage<DeadLetter> | undefined,
  replayed: ReadonlySet<string>,
): Row {
  const current = newest?.data.find(({ generation_id: id }) => id === letter.generation_id);
  const oldest = newest?.data.at(-1);
  const isWithin =
    newest !== undefined &&
    (newest.next_cursor === null || (oldest !== undefined && letter.created_at > oldest.created_at));
  if (current === undefined && isWithin) return { letter, outcome: 'delivered' };
  const shown = current ?? letter;
  if (shown.replay_requested) return { letter: shown, outcome: 'queued' };
  return { letter: shown, outcome: replayed.has(letter.generation_id) ? 'rejected' : null };
}
