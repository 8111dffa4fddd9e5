// The table of rights in the console, against the one by which the service decides.
import { expect, it } from '@jest/globals';
import { NEEDED_ROLES } from '../../console/src/api/rights.js';
import type { NeededRole } from '../../console/src/api/rights.js';
import { RIGHTS } from '../../src/domain/people/rights.js';

/** Whether viewer, developer, admin of a workspace, admin and owner have the right. */
const COLUMNS: Readonly<Record<NeededRole, string>> = {
  viewer: 'yes yes yes yes yes',
  not_developer: 'yes no yes yes yes',
  account_viewer: 'yes no no yes yes',
  developer: 'no yes yes yes yes',
  workspace_admin: 'no no yes yes yes',
  admin: 'no no no yes yes',
  owner: 'no no no no yes',
};

it('the console names the roles that have each right', () => {
  const named = Object.entries(NEEDED_ROLES).map(([right, needed]) => [right, COLUMNS[needed]]);
  const rights = Object.entries(RIGHTS).map(([right, row]) => [
    right,
    row.map((grant) => (grant === null ? 'no' : 'yes')).join(' '),
  ]);
  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(rights));
});
