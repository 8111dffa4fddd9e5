// The providers whose address has moved or is wrong, as this process saw it: named in the log once, and in GET /system.
import { Logger } from '@nestjs/common';
import { isChatEndpoint } from '../../domain/chat/chat-model.js';
import { addressProblem } from '../failures/address-problem.js';
import type { AddressProblem } from '../failures/address-problem.js';
import type { ServingTarget } from '../endpoint-target.js';

export interface FoundProblem extends AddressProblem {
  /** performance.now() of the last call that found it. */
  readonly at: number;
}

export class ProviderAddresses {
  private readonly logger = new Logger('Providers');
  /** By provider and operation. */
  private readonly problems = new Map<string, FoundProblem>();

  /** `isWrong` false: the provider has served a call. */
  note(target: ServingTarget, isWrong: boolean, status: number | null): void {
    if (!isWrong && this.problems.size === 0) return;
    const name = `${target.provider.slug} ${isChatEndpoint(target.endpoint)}`;
    if (!isWrong) {
      this.problems.delete(name);
      return;
    }
    const problem = addressProblem(target, status, 'no TLS connection');
    const text = `${problem.text}; ${remedyOf(problem)}`;
    if (!this.problems.has(name)) this.logger.warn(text);
    this.problems.set(name, { ...problem, text, at: performance.now() });
  }

  list(): readonly FoundProblem[] {
    return [...this.problems.values()];
  }
}

function remedyOf({ status, variable }: AddressProblem): string {
  if (status === null) return `check ${variable} and the certificate of the server`;
  const problem =
    status < 400 ? 'the address has moved, and redirects are not followed' : 'the address is wrong';
  return `${problem}: set ${variable} to the base of the API`;
}
