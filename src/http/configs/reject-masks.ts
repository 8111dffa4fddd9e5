// Rejects masks as secrets: a config contains them when it was read before the secret changed, or belongs to another
// destination.
import type { ValidationError } from 'class-validator';
import { findMasks } from '../../destination-kinds/shared/destination-kind.js';
import type { ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import { MASK_RULE } from '../../domain/text/masking.js';
import { validationFailure } from '../fields/validation.pipe.js';

/** Throws `invalid_request`, naming the members of `sent` whose values have the form of a mask. */
export function rejectMasks(kind: ConfigKind, sent: object): void {
  const { fields, headers } = findMasks(kind, sent);
  const problems = [
    ...fields.map(toProblem),
    ...(headers.length === 0 ? [] : [{ property: 'headers', children: headers.map(toProblem) }]),
  ];
  if (problems.length > 0) throw validationFailure([{ property: 'config', children: problems }]);
}

function toProblem(property: string): ValidationError {
  return { property, constraints: { mask: MASK_RULE } };
}
