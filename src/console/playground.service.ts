// The key that a call of the playground is charged to.
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../auth/rate-limiter.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { isUsableAt, KEY_HASH } from '../domain/keys/api-key.js';
import type { Caller } from '../domain/keys/api-key.js';
import { GuardrailAssignmentsRepository } from '../persistence/guardrails/guardrail-assignments.repository.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';

@Injectable()
export class PlaygroundService {
  constructor(
    private readonly apiKeys: ApiKeysRepository,
    private readonly assignments: GuardrailAssignmentsRepository,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** An inference key pays for its own calls alone, a management key chooses an inference key of its account. */
  async chooseKey({ key }: Caller, hash: unknown): Promise<Caller> {
    const isOwn = key.kind === 'inference';
    const wanted = isOwn ? (hash ?? key.hash) : hash;
    if (typeof wanted !== 'string' || !KEY_HASH.test(wanted)) {
      throw new AppError('invalid_request', {
        detail: 'api_key_hash: must be the hash of the key that pays, 64 lower-case hexadecimal digits',
      });
    }
    const found = await this.apiKeys.find(key.accountId, wanted);
    if (!found || (isOwn && found.key.id !== key.id))
      throw new AppError('not_found', { detail: 'no key has this hash' });
    const guardrails = await this.assignments.guardrailsOf(found.key);
    const caller = { key: found.key, secretExpiresAt: null, guardrails };
    if (found.key.kind !== 'inference' || !isUsableAt(caller, this.clock.now())) {
      throw new AppError('invalid_request', {
        detail: 'api_key_hash: must be an inference key that is neither disabled nor expired',
      });
    }
    if (!isOwn) await this.rateLimiter.consume(found.key);
    return caller;
  }
}
