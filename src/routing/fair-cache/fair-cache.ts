// An LRU cache that accounts share fairly: it evicts from the largest account, and there from the largest workspace. An
// account loses no entry to a larger one.
import { LRUCache } from 'lru-cache';
import { MaxHeap } from './max-heap.js';
import type { HeapMember } from './max-heap.js';

/** The owner of an entry. */
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

/** The overhead of a workspace. */
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

  /** Bytes of all entries, with their overhead. */
  get size(): number {
    return this.bytes;
  }

  get({ accountId, workspaceId }: CacheOwner, key: string): Value | undefined {
    const account = this.accounts.get(accountId);
    const workspace = account?.workspaces.get(workspaceId);
    if (!account || !workspace) return undefined;
    const value = workspace.entries.get(key);
    // The look-up has removed an expired entry.
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

  /** Call it after the entries of the workspace have changed. */
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
      // Every look-up reads the clock.
      ttlResolution: 0,
      perf: { now },
    });
    const workspace: WorkspaceShare<Value> = { id, weight: 0, heapIndex: -1, entries };
    account.workspaces.set(id, workspace);
    account.heaviest.add(workspace);
    return workspace;
  }
}
