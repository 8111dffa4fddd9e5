// The rule for moments in requests: ISO 8601 in UTC, with seconds. Source: contract 3.1 (expires_at).
import { ValidateBy } from 'class-validator';

// There is no year 0 in PostgreSQL's calendar.
const UTC_TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

export function IsUtcTime(): PropertyDecorator {
  return ValidateBy({
    name: 'isUtcTime',
    validator: {
      validate: isUtcTime,
      defaultMessage: () => 'must be a time in UTC with seconds, such as 2027-01-31T12:00:00Z',
    },
  });
}

function isUtcTime(value: unknown): boolean {
  if (typeof value !== 'string' || !UTC_TIME.test(value)) return false;
  const moment = new Date(value);
  // A 30th of February would be taken for a day of March.
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(value.slice(0, 19));
}
