// A semaphore whose permits are shared fairly between keys (accounts), and within a key between its members (calls): a key
// that requests all of them delays the others by the release of one permit, not by its whole queue.
import type { CancelSignal } from './cancellation.js';

/** Held until it is released. A second release has no effect. */
export interface Permit {
  release(): void;
}

export interface WeightedPermit extends Permit {
  /** Returns what it holds above this weight. */
  shrinkTo(weight: number): void;
}

export interface SemaphoreLimits {
  readonly permits: number;
  /**
   * Permits for keys that hold few, so that they seldom wait for the release of another's: a key takes its first one, and
   * more of them only while at least as many remain as it then holds.
   */
  readonly reserved?: number;
  /** A key that holds permits gets more only while at least as many unreserved permits remain for the others. */
  readonly leavesHalf?: boolean;
}

export interface PermitRequest {
  /** 1 when absent. More than all permits counts as all of them; 0 never waits. */
  readonly weight?: number;
  readonly member?: object;
}

export interface WaitLimits {
  readonly signal?: CancelSignal | undefined;
  /** performance.now() in milliseconds. */
  readonly deadline?: number;
}

/** The rejection of a request whose deadline came first. */
export class PermitTimeout extends Error {
  override readonly name = 'PermitTimeout';
}

interface Waiter {
  readonly weight: number;
  readonly member: Member;
  readonly grant: (permit: WeightedPermit) => void;
}

interface Party {
  held: number;
}

/** Exists while the member holds permits or waits for one. */
interface Member extends Party {
  readonly id: object | null;
  readonly key: KeyState;
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
}

/** Exists while it has members. */
interface KeyState extends Party {
  readonly name: string;
  readonly members: Map<object | null, Member>;
  readonly waiting: Set<Member>;
  waiterCount: number;
}

export class Semaphore {
  private inUse = 0;
  private waiterCount = 0;
  private readonly permits: number;
  private readonly reserved: number;
  private readonly leavesHalf: boolean;
  private readonly keys = new Map<string, KeyState>();
  /** A key moves to the end when it is served: keys that hold as much take turns. The same holds for members. */
  private readonly waitingKeys = new Set<KeyState>();

  constructor({ permits, reserved = 0, leavesHalf = false }: SemaphoreLimits) {
    if (permits < 1 || reserved < 0 || reserved >= permits) {
      throw new RangeError('a semaphore needs at least one permit that is not reserved');
    }
    this.permits = permits;
    this.reserved = reserved;
    this.leavesHalf = leavesHalf;
  }

  get available(): number {
    return this.permits - this.inUse;
  }

  /** Number of requests that wait. */
  get waiting(): number {
    return this.waiterCount;
  }

  /** Number of keys that hold or wait. */
  get keyCount(): number {
    return this.keys.size;
  }

  heldBy(key: string): number {
    return this.keys.get(key)?.held ?? 0;
  }

  waitingOf(key: string): number {
    return this.keys.get(key)?.waiterCount ?? 0;
  }

  /** Returns null when the request would have to wait. */
  tryAcquire(key: string, { weight = 1, member }: PermitRequest = {}): WeightedPermit | null {
    const size = Math.min(weight, this.permits);
    const held = this.heldBy(key);
    if (size > 0 && (!this.hasRoom(held, size) || this.isPreceded(held))) return null;
    return this.hold(this.memberOf(key, member), size);
  }

  /**
   * Freed permits go to the waiting key that holds the fewest, and there to the member that holds the fewest; among equals
   * to the one that was served longest ago. The order is strict: small requests never keep a large one waiting for good.
   * Rejects with the reason of `signal` or with PermitTimeout, and holds nothing then.
   */
  acquire(key: string, request: PermitRequest & WaitLimits = {}): Promise<WeightedPermit> {
    const { weight = 1, member, signal, deadline } = request;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const permit = this.tryAcquire(key, request);
      if (permit) {
        resolve(permit);
        return;
      }
      const leave = (reason: unknown): void => {
        stop();
        this.remove(waiter);
        this.close(waiter.member);
        // Requests behind a large one may fit.
        this.serve();
        reject(reason);
      };
      const onAbort = (): void => leave(signal?.reason);
      const timer =
        deadline === undefined
          ? undefined
          : setTimeout(() => leave(new PermitTimeout('no permit in time')), deadline - performance.now());
      const stop = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        weight: Math.min(weight, this.permits),
        member: this.memberOf(key, member),
        grant: (granted) => {
          stop();
          resolve(granted);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.add(waiter);
    });
  }

  private hasRoom(held: number, weight: number): boolean {
    const left = this.available - weight;
    if (held === 0) return left >= 0;
    const own = held + weight;
    return left >= (this.leavesHalf ? this.reserved + own : Math.min(this.reserved, own));
  }

  /** Whether a waiter comes before a new request of a key that holds so many permits. */
  private isPreceded(held: number): boolean {
    if (this.waiterCount === 0) return false;
    for (const other of this.waitingKeys) if (other.held <= held) return true;
    return false;
  }

  private memberOf(name: string, id: object | null = null): Member {
    let key = this.keys.get(name);
    if (!key) {
      key = { name, held: 0, members: new Map(), waiting: new Set(), waiterCount: 0 };
      this.keys.set(name, key);
    }
    let member = key.members.get(id);
    if (!member) key.members.set(id, (member = { id, key, held: 0, waiters: new Set() }));
    return member;
  }

  private close({ id, key, held, waiters }: Member): void {
    if (held > 0 || waiters.size > 0) return;
    key.members.delete(id);
    if (key.members.size === 0) this.keys.delete(key.name);
  }

  private hold(member: Member, weight: number): WeightedPermit {
    let size = 0;
    const resize = (to: number): void => {
      const change = to - size;
      this.inUse += change;
      member.key.held += change;
      member.held += change;
      size = to;
    };
    resize(weight);
    const shrinkTo = (to: number): void => {
      if (to >= size) return;
      resize(to);
      this.serve();
      this.close(member);
    };
    if (weight === 0) this.close(member);
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  /** One release can serve several keys: the one that released can now take a reserved permit. */
  private serve(): void {
    for (;;) {
      const key = nextOf(this.waitingKeys);
      const member = key && nextOf(key.waiting);
      const [waiter] = member?.waiters ?? [];
      if (!key || !member || !waiter || !this.hasRoom(key.held, waiter.weight)) return;
      this.remove(waiter);
      if (this.waitingKeys.delete(key)) this.waitingKeys.add(key);
      if (key.waiting.delete(member)) key.waiting.add(member);
      waiter.grant(this.hold(member, waiter.weight));
    }
  }

  private add(waiter: Waiter): void {
    const { member } = waiter;
    member.waiters.add(waiter);
    member.key.waiting.add(member);
    member.key.waiterCount++;
    this.waitingKeys.add(member.key);
    this.waiterCount++;
  }

  private remove(waiter: Waiter): void {
    const { member } = waiter;
    const { key, waiters } = member;
    if (!waiters.delete(waiter)) return;
    this.waiterCount--;
    key.waiterCount--;
    if (waiters.size === 0) key.waiting.delete(member);
    if (key.waiting.size === 0) this.waitingKeys.delete(key);
  }
}

/** Examines each waiting party, fewer as soon as one holds nothing. */
function nextOf<Waiting extends Party>(parties: Iterable<Waiting>): Waiting | null {
  let next: Waiting | null = null;
  for (const party of parties) {
    if (next === null || party.held < next.held) next = party;
    if (next.held === 0) break;
  }
  return next;
}
