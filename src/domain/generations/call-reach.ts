// The calls within reach of a manager: those of whole workspaces, and beside them those of single keys.

export interface ReachedKey {
  readonly id: string;
  readonly workspaceId: string;
}

export interface CallReach {
  /** Every call in these workspaces; null: in the whole account. */
  readonly workspaceIds: readonly string[] | null;
  /** Beside them the calls of these keys, each in another workspace than those. */
  readonly keys: readonly ReachedKey[];
}

/** The part of a reach within listed workspaces. */
export interface ListedReach extends CallReach {
  readonly workspaceIds: readonly string[];
}

/** The calls of some keys of some workspaces. */
export interface KeyScope {
  readonly workspaceIds: readonly string[];
  readonly apiKeyIds: readonly string[];
}

export const NO_CALLS: ListedReach = { workspaceIds: [], keys: [] };

interface LoggedCall {
  readonly workspaceId: string;
  readonly apiKeyId: string;
}

export function reachesCall(
  { workspaceIds, keys }: CallReach,
  { workspaceId, apiKeyId }: LoggedCall,
): boolean {
  if (workspaceIds === null || workspaceIds.includes(workspaceId)) return true;
  return keys.some((key) => key.id === apiKeyId && key.workspaceId === workspaceId);
}

/** Without the message of its error where its content is out of reach: the words of a provider may quote an input. */
export function withinContents<Call extends LoggedCall & { readonly errorMessage: string | null }>(
  contents: CallReach,
  call: Call,
): Call {
  return reachesCall(contents, call) ? call : { ...call, errorMessage: null };
}

export function reachesCallsOf(reach: CallReach, key: ReachedKey): boolean {
  return reachesCall(reach, { workspaceId: key.workspaceId, apiKeyId: key.id });
}

/** The workspaces that have calls within reach; null: all of the account. */
export function workspacesOfReach({ workspaceIds, keys }: CallReach): readonly string[] | null {
  return workspaceIds && [...new Set([...workspaceIds, ...keys.map((key) => key.workspaceId)])];
}

export function reachWithin({ workspaceIds, keys }: CallReach, listed: readonly string[]): ListedReach {
  return {
    workspaceIds: listed.filter((id) => workspaceIds === null || workspaceIds.includes(id)),
    keys: keys.filter((key) => listed.includes(key.workspaceId)),
  };
}

/** The keys whose calls in the workspace are within reach; undefined: every key. */
export function keyIdsIn(reach: CallReach, workspaceId: string): readonly string[] | undefined {
  if (reach.workspaceIds === null || reach.workspaceIds.includes(workspaceId)) return undefined;
  return reach.keys.filter((key) => key.workspaceId === workspaceId).map((key) => key.id);
}

/** Undefined: there are none. */
export function scopeOfKeys(keys: readonly ReachedKey[]): KeyScope | undefined {
  if (keys.length === 0) return undefined;
  return {
    workspaceIds: [...new Set(keys.map((key) => key.workspaceId))],
    apiKeyIds: keys.map((key) => key.id),
  };
}
