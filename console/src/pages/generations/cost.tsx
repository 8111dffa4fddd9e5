// How the cost of a call came about.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Generation } from '../../api/generations';
import { Section } from '../../components/display/section';
import { Absent, Money } from '../../components/display/values';
import { formatCount, formatCountOf, formatMoney } from '../../format';
import { costParts, hasMedia } from './cost-parts';
import type { CostPart } from './cost-parts';
import styles from './generations.module.css';

const MILLION = 1_000_000;
// As many as a double has: further ones are those of its binary fraction.
const DIGITS = 12;

export function Cost({ generation }: { readonly generation: Generation }) {
  const { usage, upstream_inference_cost: upstream, is_byok: isByok, overrun } = generation;
  const parts = costParts(generation);
  return (
    <Section title="Cost">
      <table className={styles.cost}>
        <caption className="visually-hidden">Parts of the cost</caption>
        {parts.length > 0 && (
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Tokens</th>
              <th scope="col">USD a million</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
        )}
        <tbody>
          {parts.map((part) => (
            <PartRow key={part.label} part={part} />
          ))}
        </tbody>
        <tfoot>
          <SearchUnits generation={generation} />
          {upstream !== null && upstream !== usage && (
            <SumRow label={isByok ? 'Paid to the provider with your own key' : 'Cost at the provider'}>
              <Money isExact usd={upstream} />
            </SumRow>
          )}
          {overrun !== null && overrun > 0 && (
            <SumRow label="Above the reservation, not charged">
              <Money isExact usd={overrun} />
            </SumRow>
          )}
          <SumRow label="Charged to the key" isTotal>
            <Money isExact usd={usage} />
          </SumRow>
        </tfoot>
      </table>
      {generation.price_source === 'ceiling' && (
        <p className={styles.note}>
          The catalogue does not have the model: the call costs what its provider takes for its most expensive
          models. An operator can <Link to="/models/new">add it with its own price</Link>.
        </p>
      )}
      {hasMedia(generation) && (
        <p className={styles.note}>The amount of the prompt includes images, files and audio.</p>
      )}
    </Section>
  );
}

/** Of a rerank call whose price is one of units. */
function SearchUnits({ generation }: { readonly generation: Generation }) {
  const { usage, is_byok: isByok, upstream_inference_cost: upstream, search_units: units } = generation;
  const amount = isByok || upstream === null ? upstream : usage;
  if (units === null || units === 0 || amount === null) return null;
  return (
    <SumRow label={`${formatCountOf(units, 'search unit')} at ${formatMoney(exact(amount / units))}`}>
      <Money isExact usd={amount} />
    </SumRow>
  );
}

function PartRow({ part: { label, tokens, price, amount } }: { readonly part: CostPart }) {
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>{formatCount(tokens)}</td>
      <td>{price === null ? <Absent /> : <Money isExact usd={exact(price * MILLION)} />}</td>
      <td>{amount === null ? <Absent /> : <Money isExact usd={amount} />}</td>
    </tr>
  );
}

const exact = (value: number): number => Number(value.toPrecision(DIGITS));

interface SumRowProps {
  readonly label: string;
  readonly isTotal?: boolean;
  readonly children: ReactNode;
}

function SumRow({ label, isTotal = false, children }: SumRowProps) {
  return (
    <tr className={isTotal ? styles.total : undefined}>
      <th scope="row" colSpan={3}>
        {label}
      </th>
      <td>{children}</td>
    </tr>
  );
}
