// Proposals of one group, our price and those of the lists side by side.
import { Link } from '@tanstack/react-router';
import { pathOf } from '../../api/catalogue';
import type { Proposal } from '../../api/imports';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Absent, Name } from '../../components/display/values';
import { FilterCheck } from '../../components/form/filter-row';
import { formatCount } from '../../format';
import { priceWord } from '../models/catalogue/documents';
import { Amount } from '../models/price';
import { isTakenAlone, isTakenTogether, listsOf, problemOf } from './proposals';
import styles from '../models/models.module.css';

interface ProposalGroupProps {
  readonly title: string;
  readonly meaning: string;
  readonly proposals: readonly Proposal[];
  readonly selected: ReadonlySet<number>;
  /** Whether proposals can still be applied. */
  readonly isOpen: boolean;
  readonly onToggle: (numbers: readonly number[], isOn: boolean) => void;
  readonly onAsk: (proposal: Proposal) => void;
}

/** A line for each price of the proposal: the lines of all columns stand beside each other. */
function Lines({
  proposal,
  valueOf,
}: {
  readonly proposal: Proposal;
  readonly valueOf: (price: Proposal['prices'][number]) => string | null | undefined;
}) {
  return (
    <span className={styles.price}>
      {proposal.prices.map((price) => {
        const value = valueOf(price);
        return (
          <span key={price.member}>
            {value === null || value === undefined ? <Absent /> : <Amount usd={Number(value)} />}
          </span>
        );
      })}
    </span>
  );
}

function columnsOf({
  proposals,
  selected,
  isOpen,
  onToggle,
  onAsk,
}: ProposalGroupProps): readonly Column<Proposal>[] {
  return [
    {
      id: 'model',
      header: 'Model',
      cell: (proposal) => {
        const { id, number, provider, upstream_model: upstream } = proposal;
        const isKnown = proposal.prices.some(({ own }) => own !== null) || proposal.applied_version !== null;
        return (
          <span className={styles.proposal}>
            {isOpen && isTakenTogether(proposal) ? (
              <FilterCheck
                label={id}
                checked={selected.has(number)}
                onChange={(isOn) => onToggle([number], isOn)}
              />
            ) : isKnown ? (
              <Link to="/models/$author/$slug" params={pathOf(id)}>
                <Name text={id} />
              </Link>
            ) : (
              <Name text={id} />
            )}
            <code className={styles.id} title={`${provider} ${upstream}`}>
              {provider} {upstream}
            </code>
          </span>
        );
      },
    },
    {
      id: 'price',
      header: 'Price',
      cell: ({ prices }) => (
        <span className={styles.price}>
          {prices.map(({ member }) => (
            <span key={member}>{priceWord(member)}</span>
          ))}
        </span>
      ),
    },
    {
      id: 'own',
      header: 'Ours',
      align: 'end',
      cell: (proposal) => <Lines proposal={proposal} valueOf={({ own }) => own} />,
    },
    ...listsOf(proposals).map((list): Column<Proposal> => ({
      id: `list ${list}`,
      header: list,
      align: 'end',
      cell: (proposal) => (
        <Lines
          proposal={proposal}
          valueOf={({ values }) => values.find((value) => value.list === list)?.value}
        />
      ),
    })),
    {
      id: 'state',
      header: 'State',
      cell: (proposal) => <State proposal={proposal} isOpen={isOpen} onAsk={onAsk} />,
    },
  ];
}

interface StateProps {
  readonly proposal: Proposal;
  readonly isOpen: boolean;
  readonly onAsk: (proposal: Proposal) => void;
}

function State({ proposal, isOpen, onAsk }: StateProps) {
  const { applied_version: version, holds, id } = proposal;
  if (version !== null) return <Badge tone="good">Applied, revision {version}</Badge>;
  const problem = problemOf(proposal);
  return (
    <span className={styles.price}>
      {holds.map(({ reason }) => (
        <span key={reason} className={styles.muted}>
          Held: {reason}
        </span>
      ))}
      {problem !== null && <span className={styles.muted}>{problem}</span>}
      {isOpen && isTakenAlone(proposal) && (
        <span>
          <Button aria-label={`Decide on ${id}`} onClick={() => onAsk(proposal)}>
            Decide
          </Button>
        </span>
      )}
    </span>
  );
}

export function ProposalGroup(props: ProposalGroupProps) {
  const { title, meaning, proposals, selected, isOpen, onToggle } = props;
  if (proposals.length === 0) return null;
  const numbers = proposals.filter(isTakenTogether).map(({ number }) => number);
  return (
    <Section
      title={`${title} (${formatCount(proposals.length)})`}
      description={meaning}
      actions={
        isOpen &&
        numbers.length > 1 && (
          <FilterCheck
            label={`Select all ${title.toLowerCase()}`}
            checked={numbers.every((number) => selected.has(number))}
            onChange={(isOn) => onToggle(numbers, isOn)}
          />
        )
      }
      isFlush
    >
      <DataTable
        caption={`Proposals: ${title}`}
        columns={columnsOf(props)}
        rows={proposals}
        rowKey={({ number }) => String(number)}
        isRowMuted={({ applied_version: version }) => version !== null}
        empty={null}
      />
    </Section>
  );
}
