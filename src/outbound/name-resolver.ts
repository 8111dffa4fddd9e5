// From the name of a host to its IP addresses, as an injected part: tests have a DNS of their own.
import { Injectable } from '@nestjs/common';
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';

export abstract class NameResolver {
  /** Every address of the host. Rejects when there is none. */
  abstract resolve(host: string): Promise<readonly LookupAddress[]>;
}

/** As every program of the machine resolves names: the hosts file and search domains count. */
@Injectable()
export class SystemNameResolver extends NameResolver {
  private readonly underWay = new Map<string, Promise<readonly LookupAddress[]>>();

  // A look-up holds one of few threads, for long where a name server does not answer: one for each name is enough.
  override resolve(host: string): Promise<readonly LookupAddress[]> {
    const joined = this.underWay.get(host);
    if (joined) return joined;
    const started = lookup(host, { all: true }).finally(() => this.underWay.delete(host));
    this.underWay.set(host, started);
    return started;
  }
}
