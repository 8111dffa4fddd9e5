/** The members that differ. A change sends no others: it must not revert what was changed elsewhere since they were loaded. */
export function changedMembers<Body extends object>(after: Body, before: Body): Partial<Body> {
  const former = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(former.get(name)),
  );
  return Object.fromEntries(changed) as Partial<Body>;
}

interface Settings {
  readonly config: object;
}

type SettingsChange<Body extends Settings> = Partial<Omit<Body, 'config'>> & {
  config?: Partial<Body['config']>;
};

/** Members of the config that are absent keep their value as well. */
export function changedSettings<Body extends Settings>(after: Body, before: Body): SettingsChange<Body> {
  const { config: _whole, ...change } = changedMembers<Settings>(after, before);
  const config = changedMembers<Body['config']>(after.config, before.config);
  return { ...change, ...(Object.keys(config).length === 0 ? {} : { config }) } as SettingsChange<Body>;
}
