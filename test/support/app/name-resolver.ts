// A DNS that answers what a test scripts, one answer after the other, and knows no other name.
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { NameResolver } from '../../../src/outbound/connections/name-resolver.js';

type Answer = readonly string[] | 'hang';

export class ScriptedResolver extends NameResolver {
  /** Every name that was looked up, in order. */
  readonly asked: string[] = [];
  /** The accounts of those look-ups. */
  readonly accounts: string[] = [];
  private readonly answers = new Map<string, Answer[]>();

  /** Sets the results of the next look-ups of a host; the last one stays. */
  script(host: string, ...answers: Answer[]): this {
    this.answers.set(host, answers);
    return this;
  }

  override async resolve(host: string, account: string): Promise<readonly LookupAddress[]> {
    this.asked.push(host);
    this.accounts.push(account);
    const answers = this.answers.get(host) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === undefined) {
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    }
    if (answer === 'hang') return new Promise(() => undefined);
    return answer.map((address) => ({ address, family: isIP(address) }));
  }
}
