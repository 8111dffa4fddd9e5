// Prints proposals in groups, and chooses those that are written.
import { toText } from './decimal.mjs';
import { summaryOf } from './write.mjs';
import { ListError } from './read-list.mjs';

/** Groups in which lists agree: they may be taken whole, without the proposals that are held. */
const TAKEN = ['new', 'cheaper', 'dearer'];
const GROUPS = [...TAKEN, 'lists disagree', 'one list', 'tiers', 'future', 'remove', 'not listed'];

export function report(proposals, lists) {
  const parts = lists.map(({ name, offers, problems }) => {
    const refused = problems.map(
      ({ provider, model, problem }) => `  refused: ${provider} ${model}: ${problem}\n`,
    );
    return `${name}: ${offers.size} models\n${refused.join('')}`;
  });
  for (const group of GROUPS) {
    const members = proposals.filter((proposal) => proposal.group === group);
    if (members.length > 0) parts.push(`\n${group}: ${members.length}\n`, ...members.map(lineOf));
  }
  return parts.join('');
}

function lineOf(proposal) {
  const { key, id, day, changes, holds } = proposal;
  const name = id === undefined ? key : `${key} (${id})`;
  const values = changes.map(
    ({ member, own, values: stated }) =>
      `    ${member}: ${own === undefined ? 'none' : toText(own)} here; ` +
      `${stated.map(({ list, value }) => `${toText(value)} ${list}`).join(', ')}\n`,
  );
  const held = holds.map(({ reason, isTyped }) => `    held: ${reason}${isTyped ? ' (confirm it)' : ''}\n`);
  const confirmation =
    holds.length > 0 && changes.length > 0 ? `    --confirm='${summaryOf(proposal)}'\n` : '';
  return `  ${name}${day === undefined ? '' : ` from ${day}`}\n${values.join('')}${held.join('')}${confirmation}`;
}

/** Those of the named groups that nothing holds, and those that are confirmed by their text. */
export function chosenOf(proposals, groups, confirmations) {
  for (const group of groups)
    if (!TAKEN.includes(group))
      throw new ListError(`--take: ${group} cannot be taken whole; can be: ${TAKEN.join(', ')}`);
  const known = new Set(proposals.map(summaryOf));
  for (const text of confirmations)
    if (!known.has(text)) throw new ListError(`--confirm: there is no proposal ${JSON.stringify(text)}`);
  return proposals.filter(
    (proposal) =>
      confirmations.includes(summaryOf(proposal)) ||
      (groups.includes(proposal.group) && proposal.holds.length === 0),
  );
}
