// Endpoints whose names their providers have not listed for a week: a note, and no state.
import { useQueries } from '@tanstack/react-query';
import type { CatalogueModel } from '../../api/catalogue';
import { providerModelsQuery } from '../../api/providers';
import { Time } from '../../components/display/values';
import { Notice } from '../../components/feedback/states';

const WEEK_MS = 7 * 86_400_000;

export function MissingNames({ entry: { model } }: { readonly entry: CatalogueModel }) {
  const endpoints = model.endpoints ?? [];
  const providers = [...new Set(endpoints.map(({ provider }) => provider))];
  const lists = useQueries({ queries: providers.map((slug) => providerModelsQuery(slug)) });
  const missing = endpoints.flatMap(({ provider, upstream_model: name }) => {
    const list = lists[providers.indexOf(provider)]?.data;
    const seen = list?.models.find((listed) => listed.name === name)?.last_seen;
    if (list === undefined || list.answered_at === null || seen === undefined) return [];
    const isMissing = Date.parse(list.answered_at) - Date.parse(seen) > WEEK_MS;
    return isMissing ? [{ provider, name: String(name), seen }] : [];
  });
  return missing.map(({ provider, name, seen }) => (
    <Notice key={`${provider} ${name}`} tone="warning">
      {provider} no longer lists <code>{name}</code>: it did <Time at={seen} isRelative /> for the last time.
      Calls still go there.
    </Notice>
  ));
}
