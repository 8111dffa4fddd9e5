// The models that their vendor withdraws, with the keys that still use them (docs/contract.md#models).
import { Injectable } from '@nestjs/common';
import { KINDS } from '../catalogue/reader/kinds.js';
import type { Kind } from '../catalogue/reader/kinds.js';
import { Clock } from '../domain/clock.js';
import type { Deprecation } from '../domain/deprecation.js';
import type { Scope } from '../domain/people/manager.js';
import { utcDay } from '../domain/spend/spend.js';
import { ModelUseRepository } from '../persistence/catalogue/model-use.repository.js';
import type { ModelUse } from '../persistence/catalogue/model-use.repository.js';
import { CatalogueSource } from '../routing/catalogue-source.js';

const DAY = 86_400_000;
/** With today. */
const DAYS = 7;

export interface ExpiringModel {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly expiresOn: string;
  readonly successor: string | null;
  /** The latest use first. */
  readonly keys: readonly ModelUse[];
}

@Injectable()
export class ExpiringModelsService {
  constructor(
    private readonly source: CatalogueSource,
    private readonly uses: ModelUseRepository,
    private readonly clock: Clock,
  ) {}

  /** With the keys within reach. The first to end first; those whose end is past as well. */
  async list(scope: Scope): Promise<ExpiringModel[]> {
    const models = KINDS.flatMap((kind) =>
      this.source.list(kind).flatMap((model) => {
        const { id, name, disabled } = model;
        const { expiresOn, successor = null } = model as Deprecation;
        return expiresOn === undefined || disabled === true ? [] : [{ kind, id, name, expiresOn, successor }];
      }),
    );
    const since = new Date(Date.parse(utcDay(this.clock.now())) - (DAYS - 1) * DAY);
    const ids = models.map(({ id }) => id);
    const uses = await this.uses.keysOf(scope, ids, since);
    return models
      .map((model) => Object.assign(model, { keys: uses.filter((use) => use.model === model.id) }))
      .toSorted((one, other) => (one.expiresOn < other.expiresOn ? -1 : 1));
  }
}
