// The PostgreSQL server under faults, as fault-cluster.mjs makes it.
export interface FaultCluster {
  readonly url: string;
  query: (databaseUrl: string, text: string) => Promise<unknown[]>;
  createDatabase: (name: string) => Promise<string>;
  migrate: (databaseUrl: string) => Promise<void>;
  kill(): void;
  /** SIGKILL for all of its processes. */
  crash(): void;
  stopAtOnce(): void;
  /** Starts it again on its port, after it was ended in any way. */
  restart(): Promise<void>;
  /** SIGSTOP for all of its processes. */
  pause(): void;
  resume(): void;
  /** Ends the connections to a database and takes every one that the server has; resolves with how to let go of them. */
  exhaustConnections(databaseUrl: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** A server with a synchronous standby, as failover-pair.mjs makes it; the faults are those of the first. */
export interface FailoverPair extends FaultCluster {
  /** Resolves when the standby accepts writes. */
  promote(): Promise<unknown>;
}
