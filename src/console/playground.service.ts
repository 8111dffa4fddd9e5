// The key that a call of the playground is charged to.
import { Injectable } from '@nestjs/common';
import { PeopleCache } from '../auth/caller-cache.js';
import { RateLimiter } from '../auth/rate-limiter.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { isUsableAt, KEY_HASH } from '../domain/keys/api-key.js';
import type { ApiKey, Caller } from '../domain/keys/api-key.js';
import { inferenceKeyOf, reachesKey } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { endOfKeys } from '../domain/people/person.js';
import { GuardrailAssignmentsRepository } from '../persistence/guardrails/guardrail-assignments.repository.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';

@Injectable()
export class PlaygroundService {
  constructor(
    private readonly apiKeys: ApiKeysRepository,
    private readonly people: PeopleCache,
    private readonly assignments: GuardrailAssignmentsRepository,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** An inference key pays for its own calls alone; others choose an inference key within their reach. */
  async chooseKey(manager: Manager, hash: unknown): Promise<Caller> {
    const ownKey = inferenceKeyOf(manager);
    const wanted = hash ?? ownKey?.hash;
    if (typeof wanted !== 'string' || !KEY_HASH.test(wanted)) {
      throw new AppError('invalid_request', {
        detail: 'api_key_hash: must be the hash of the key that pays, 64 lower-case hexadecimal digits',
      });
    }
    const found = await this.apiKeys.find(manager.accountId, wanted);
    const isOthers = ownKey !== null && found?.key.id !== ownKey.id;
    if (!found || isOthers || !reachesKey(manager.reach, found.key))
      throw new AppError('not_found', { detail: 'no key has this hash' });
    const guardrails = await this.assignments.guardrailsOf(found.key);
    const caller = { key: found.key, secretExpiresAt: await this.endOf(found.key), guardrails };
    if (found.key.kind !== 'inference' || !isUsableAt(caller, this.clock.now())) {
      throw new AppError('invalid_request', {
        detail:
          'api_key_hash: must be an inference key that is neither disabled nor expired, and whose creator has not left',
      });
    }
    if (ownKey === null) await this.rateLimiter.consume(found.key);
    return caller;
  }

  /** When the key ends with its creator. Null: it does not. */
  private async endOf({ creatorUserId, endsWithCreator }: ApiKey): Promise<Date | null> {
    const creator = endsWithCreator && creatorUserId !== null ? await this.people.find(creatorUserId) : null;
    return creator && endOfKeys(creator);
  }
}
