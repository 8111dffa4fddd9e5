// The choice of the range. It lives in the address.
import { Link } from '@tanstack/react-router';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { RANGES } from './overview-search';
import type { Range } from './overview-search';
import { RANGE_DEFINITIONS } from './ranges';

export function RangeLinks({ range }: { readonly range: Range }) {
  return (
    <ChoiceLinks label="Range">
      {RANGES.map((choice) => (
        <Link
          key={choice}
          to="."
          search={(search) => ({ ...search, range: choice })}
          aria-current={choice === range ? 'true' : undefined}
        >
          {RANGE_DEFINITIONS[choice].label}
        </Link>
      ))}
    </ChoiceLinks>
  );
}
