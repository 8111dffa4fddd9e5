// An LRU cache that accounts share fairly: eviction takes from the account that holds most, and there from the workspace
// that holds most. An account loses nothing to another one while it holds less than that one.
import { LRUCache } from 'lru-cache';
import { MaxHeap } from './max-heap.js';
import type { HeapMember } from './max-heap.js';

/** Whose entry it is. */
export interface CacheOwner {
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface FairCacheOptions<Value> {
  readonly maxBytes: number;
  /** Milliseconds. */
  readonly timeToLive: number;
  readonly now: () => number;
  readonly sizeOf: (value: Value) => number;
}

/** What a workspace takes beside its entries. */
const BYTES_AROUND_WORKSPACE = 2048;

/** Weights are bytes. */
interface WorkspaceShare<Value extends object> extends HeapMember {
  readonly id: string;
  weight: number;
  readonly entries: LRUCache<string, Value>;
}

interface AccountShare<Value extends object> extends HeapMember {
  readonly id: string;
  weight: number;
  readonly workspaces: Map<string, WorkspaceShare<Value>>;
  readonly heaviest: MaxHeap<WorkspaceShare<Value>>;
}

export class FairCache<Value extends object> {
  private bytes = 0;
  private readonly accounts = new Map<string, AccountShare<Value>>();
  private readonly heaviest = new MaxHeap<AccountShare<Value>>();

  constructor(private readonly options: FairCacheOptions<Value>) {}

  /** Of all entries, with what is around them. */
  get size(): number {
    return this.bytes;
  }

  get({ accountId, workspaceId }: CacheOwner, key: string): Value | undefined {
    const account = this.accounts.get(accountId);
    const workspace = account?.workspaces.get(workspaceId);
    if (!account || !workspace) return undefined;
    const value = workspace.entries.get(key);
    // An entry whose time is over has just been removed.
    if (value === undefined) this.weigh(account, workspace);
    return value;
  }

  set(owner: CacheOwner, key: string, value: Value): void {
    if (this.options.sizeOf(value) + BYTES_AROUND_WORKSPACE > this.options.maxBytes) return;
    const account = this.accountOf(owner);
    const workspace = this.workspaceOf(account, owner);
    workspace.entries.set(key, value);
    this.weigh(account, workspace);
    while (this.bytes > this.options.maxBytes) this.evict();
  }

  private evict(): void {
    const account = this.heaviest.top;
    const workspace = account?.heaviest.top;
    if (!account || !workspace) throw new RangeError('a cache without entries is not too large');
    workspace.entries.pop();
    this.weigh(account, workspace);
  }

  /** After the entries of the workspace have changed. */
  private weigh(account: AccountShare<Value>, workspace: WorkspaceShare<Value>): void {
    const { calculatedSize, size } = workspace.entries;
    const change = (size === 0 ? 0 : calculatedSize + BYTES_AROUND_WORKSPACE) - workspace.weight;
    if (change === 0) return;
    this.bytes += change;
    workspace.weight += change;
    account.weight += change;
    if (size === 0) {
      account.heaviest.remove(workspace);
      account.workspaces.delete(workspace.id);
    } else account.heaviest.update(workspace);
    if (account.workspaces.size === 0) {
      this.heaviest.remove(account);
      this.accounts.delete(account.id);
    } else this.heaviest.update(account);
  }

  private accountOf({ accountId: id }: CacheOwner): AccountShare<Value> {
    const known = this.accounts.get(id);
    if (known) return known;
    const account: AccountShare<Value> = {
      id,
      weight: 0,
      heapIndex: -1,
      workspaces: new Map(),
      heaviest: new MaxHeap(),
    };
    this.accounts.set(id, account);
    this.heaviest.add(account);
    return account;
  }

  private workspaceOf(account: AccountShare<Value>, { workspaceId: id }: CacheOwner): WorkspaceShare<Value> {
    const known = account.workspaces.get(id);
    if (known) return known;
    const { maxBytes, timeToLive, now, sizeOf } = this.options;
    const entries = new LRUCache<string, Value>({
      maxSize: maxBytes,
      sizeCalculation: sizeOf,
      ttl: timeToLive,
      // Every look asks the clock itself.
      ttlResolution: 0,
      perf: { now },
    });
    const workspace: WorkspaceShare<Value> = { id, weight: 0, heapIndex: -1, entries };
    account.workspaces.set(id, workspace);
    account.heaviest.add(workspace);
    return workspace;
  }
}
