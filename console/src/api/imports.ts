// Imports of price lists: proposals that wait for a decision.
import { queryOptions } from '@tanstack/react-query';
import { CATALOGUE } from './catalogue';
import { api, call } from './client';
import type { Schemas } from './client';

export type ImportSummary = Schemas['CatalogueImportSummaryDto'];
export type CatalogueImport = Schemas['CatalogueImportDto'];
export type Proposal = Schemas['ProposalDto'];
export type TakenProposal = Schemas['TakenProposalDto'];

const IMPORTS = [...CATALOGUE, 'imports'];

export const importsQuery = queryOptions({
  queryKey: [...IMPORTS, 'list'],
  queryFn: async ({ signal }): Promise<readonly ImportSummary[]> =>
    (await call(api.GET('/api/v1/catalogue/imports', { signal }))).data,
});

export const importQuery = (id: string) =>
  queryOptions({
    queryKey: [...IMPORTS, id],
    queryFn: async ({ signal }): Promise<CatalogueImport> => {
      const params = { path: { id } };
      return (await call(api.GET('/api/v1/catalogue/imports/{id}', { params, signal }))).data;
    },
  });

/** All of them or none. */
export async function applyProposals(
  id: string,
  entries: readonly TakenProposal[],
): Promise<CatalogueImport> {
  const params = { path: { id } };
  const body = { entries: [...entries] };
  return (await call(api.POST('/api/v1/catalogue/imports/{id}/apply', { params, body }))).data;
}

export async function discardImport(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/catalogue/imports/{id}', { params: { path: { id } } }));
}
