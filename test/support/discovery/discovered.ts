// Names as if a provider had just listed them.
import type { ModelFacts } from '../../../src/domain/providers/provider-model.js';
import { ProviderModelsRepository } from '../../../src/persistence/catalogue/provider-models.repository.js';
import { DiscoveredNames } from '../../../src/routing/discovered-names.js';
import type { TestApp } from '../app/app.js';
import { eventually } from '../eventually.js';

const UNKNOWN: ModelFacts = {
  kind: null,
  displayName: null,
  contextLength: null,
  maxOutputTokens: null,
  prices: null,
  releasedOn: null,
  retiresOn: null,
  successor: null,
  aliases: [],
};

/** Waits until the process of the app knows them. */
export async function listAt(
  app: TestApp,
  provider: string,
  names: Readonly<Record<string, Partial<ModelFacts>>>,
): Promise<void> {
  const models = Object.entries(names).map(([name, facts]) => ({ name, facts: { ...UNKNOWN, ...facts } }));
  await app.application.get(ProviderModelsRepository).record(provider, models);
  const discovered = app.application.get(DiscoveredNames);
  await eventually(
    () => Promise.resolve(models.every(({ name }) => discovered.find(provider, name))),
    (isKnown) => isKnown,
  );
}
