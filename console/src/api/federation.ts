// Federation policies: which tokens of which issuer may be exchanged for an access token of a key.
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type FederationPolicy = Schemas['FederationPolicyDto'];
export type NewFederationPolicy = Schemas['CreateFederationPolicyDto'];
export type FederationPolicyChange = Schemas['UpdateFederationPolicyDto'];

export const FEDERATION_POLICIES = ['federation-policies'] as const;
// An account has at most 50.
const ALL = 100;

const at = (id: string) => ({ path: { id } });

/** Those of the account, newest first. */
export const federationPoliciesQuery = queryOptions({
  queryKey: [...FEDERATION_POLICIES, 'list'],
  queryFn: async ({ signal }): Promise<readonly FederationPolicy[]> =>
    (await call(api.GET('/api/v1/federation-policies', { params: { query: { limit: ALL } }, signal }))).data,
});

async function loadPolicy(id: string, signal: AbortSignal): Promise<FederationPolicy> {
  return (await call(api.GET('/api/v1/federation-policies/{id}', { params: at(id), signal }))).data;
}

export const federationPolicyQuery = (id: string) =>
  queryOptions({
    queryKey: [...FEDERATION_POLICIES, id],
    queryFn: ({ signal }) => loadPolicy(id, signal),
  });

/** For a form, which begins with the stored values and keeps what is typed. */
export const editedPolicyQuery = (id: string) =>
  queryOptions({
    // Not among the other policies, which a change of one of them loads again.
    queryKey: ['edited-federation-policy', id],
    queryFn: ({ signal }) => loadPolicy(id, signal),
    staleTime: Infinity,
    gcTime: 0,
  });

export async function createPolicy(body: NewFederationPolicy): Promise<FederationPolicy> {
  return (await call(api.POST('/api/v1/federation-policies', { body }))).data;
}

export async function updatePolicy(id: string, body: FederationPolicyChange): Promise<FederationPolicy> {
  return (await call(api.PATCH('/api/v1/federation-policies/{id}', { params: at(id), body }))).data;
}

export async function deletePolicy(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/federation-policies/{id}', { params: at(id) }));
}
