// People in words.
import type { Person } from '../../api/people';

/** The name, else the e-mail address, else the id. */
export function nameOfPerson({ id, email, first_name: first, last_name: last }: Person): string {
  const name = [first, last].filter((part) => part !== null && part !== '').join(' ');
  return name || email || id;
}

interface RoleSources {
  readonly hand: string | null;
  readonly group: string | null;
}

/** "by hand", "by a group", or both with their roles. */
export function sourcesText({ hand, group }: RoleSources): string {
  if (hand !== null && group !== null && hand !== group) return `${hand} by hand, ${group} by a group`;
  if (hand !== null && group !== null) return 'by hand and by a group';
  return hand === null ? 'by a group' : 'by hand';
}
