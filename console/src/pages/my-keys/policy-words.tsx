// The bounds of own keys in words.
import type { ReactNode } from 'react';
import type { OwnKeyPolicy } from '../../api/own-keys';
import { Money } from '../../components/display/values';
import { formatCountOf } from '../../format';
import { windowName } from '../keys/key-limits';

export function boundsOf(policy: OwnKeyPolicy): readonly (readonly [string, ReactNode])[] {
  const { max_limit: most, default_limit: usual, max_days: days } = policy;
  const window = windowName(policy.limit_reset);
  return [
    ['Keys of one person', `At most ${policy.max_keys}`],
    [
      'Limit of a key',
      most === null ? (
        `None needed; one counts ${window}`
      ) : (
        <>
          At most <Money usd={most} /> {window}
        </>
      ),
    ],
    [
      'Limit if none is set',
      usual === null ? (
        most === null ? (
          'No limit'
        ) : (
          'The highest limit'
        )
      ) : (
        <>
          <Money usd={usual} /> {window}
        </>
      ),
    ],
    ['Expires', days === null ? 'Never, unless the key says so' : `Within ${formatCountOf(days, 'day')}`],
    ['Own provider keys', policy.include_byok_in_limit ? 'Count toward the limit' : 'Do not count'],
  ];
}
