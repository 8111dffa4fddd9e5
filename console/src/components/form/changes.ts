/** The members that differ. A change sends no others: it must not revert what was changed elsewhere since they were loaded. */
export function changedMembers<Body extends object>(after: Body, before: Body): Partial<Body> {
  const former = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(former.get(name)),
  );
  return Object.fromEntries(changed) as Partial<Body>;
}
