// Why a proposal needs a person: bounds that right prices do not cross. A hold with `isTyped` needs its text typed as confirmation; the
// others keep a proposal out of a whole group.
import { toText } from './decimal.mjs';

const TYPED_FACTOR = 10n;
const GROUP_FACTOR = 2n;
/** Of the price of the prompt. */
const MOST_COMPLETION = 20n;

export function holdsOf({ stated, changes }, ours) {
  return [...changeHolds(changes), ...stated.flatMap(({ list, row }) => rowHolds(list, row, stated, ours))];
}

/** A model that is new here may be on its way out at its provider. */
export function deprecationsOf(key, lists) {
  return lists.flatMap(({ name, offers }) =>
    offers.get(key)?.isDeprecated === true ? [typed(`${name}: it is deprecated`)] : [],
  );
}

function changeHolds(changes) {
  return changes.flatMap(({ member, own, values }) => {
    if (own === undefined) return [];
    return values.flatMap(({ list, value }) => {
      if (value === own) return [];
      if (value === 0n || own === 0n)
        return [typed(`${list}: ${member} ${own === 0n ? 'leaves' : 'becomes'} 0`)];
      const [more, less] = value > own ? [value, own] : [own, value];
      const reason = `${list}: ${member} changes by a factor of ${toText((more * 10n ** 12n) / less)}`;
      if (more >= less * TYPED_FACTOR) return [typed(reason)];
      return more >= less * GROUP_FACTOR ? [{ reason, isTyped: false }] : [];
    });
  });
}

function rowHolds(list, { amounts, tiers, serviceTiers }, stated, ours) {
  const { prompt, completion, cache_read: read, cache_write: write, cache_write_1h: hour } = amounts;
  const holds = [];
  const hold = (reason) => holds.push(typed(`${list}: ${reason}`));
  if (read > prompt) hold('cache_read is above prompt');
  if (hour < (write ?? prompt)) hold('cache_write_1h is below the write of 5 minutes');
  if (
    write < prompt &&
    read === undefined &&
    others(stated, list).some(({ row }) => row.amounts.cache_read < prompt)
  )
    hold('cache_write is below prompt, and other lists have a cache_read');
  if (completion > prompt * MOST_COMPLETION) hold('completion is above 20 times the prompt');
  for (const { above, amounts: tier } of tiers)
    if (tier.cache_read === undefined && read !== undefined && hasTierRead(others(stated, list), above))
      hold(`its tier above ${above} tokens has no cache_read, and another list has one`);
  if (ours && !sameTiers(tiers, ours.tiers) && tiers.length > 0)
    holds.push({ ...typed(`${list}: its tiers are not ours`), isOfTiers: true });
  const lost = Object.keys(ours?.serviceTiers ?? {}).filter((name) => !(name in (serviceTiers ?? {})));
  if (Object.keys(serviceTiers ?? {}).length > 0 && lost.length > 0)
    hold(`it lacks the service tier ${lost.join(', ')}`);
  return holds;
}

function typed(reason) {
  return { reason, isTyped: true };
}

function others(stated, list) {
  return stated.filter((statement) => statement.list !== list);
}

function hasTierRead(stated, above) {
  return stated.some(({ row }) =>
    row.tiers.some((tier) => isSameStart(tier.above, above) && tier.amounts.cache_read !== undefined),
  );
}

/** Lists write the vendor's number, whether a tier begins at or above it. */
function isSameStart(one, other) {
  return Math.abs(one - other) <= 1;
}

function sameTiers(theirs, ours) {
  return (
    theirs.length === ours.length &&
    theirs.every(({ above, amounts }) =>
      ours.some(
        (tier) =>
          isSameStart(tier.above, above) &&
          Object.entries(amounts).every(([name, price]) => tier.amounts[name] === price),
      ),
    )
  );
}
