// The models that providers list for the credential of the operator.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import type { ModelListState, ProviderModel, SeenModel } from '../../domain/providers/provider-model.js';
import { Database } from '../database/database.js';
import {
  CLAIM_LIST,
  FIND_LIST,
  LIST_MODELS,
  NOTE_FAILURE,
  RECORD_MODELS,
  SEEN_MODELS,
} from './provider-model-statements.js';

const DAY = 86_400_000;
// Days after which a name that its provider lists no more is forgotten, and the number of such names of one provider.
const KEPT_DAYS = 30;
const KEPT_NAMES = 2_000;

/** Milliseconds between two requests to a provider, of any process. */
export interface ListPauses {
  readonly afterAnswer: number;
  readonly afterFailure: number;
}

type Row<Columns> = Columns & Record<string, unknown>;

@Injectable()
export class ProviderModelsRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Whether this process alone asks the provider now: the newest request of any process is long ago. */
  async claim(provider: string, { afterAnswer, afterFailure }: ListPauses): Promise<boolean> {
    const now = this.clock.now().getTime();
    const values = [provider, ...[now, now - afterAnswer, now - afterFailure].map((time) => new Date(time))];
    return (await this.database.query({ text: CLAIM_LIST, values })).length > 0;
  }

  /** The names of before stay. */
  async noteFailure(provider: string, problem: string): Promise<void> {
    await this.database.query({ text: NOTE_FAILURE, values: [provider, problem] });
  }

  /** Every process learns of them. */
  async record(provider: string, models: readonly ProviderModel[]): Promise<void> {
    const now = this.clock.now();
    const oldest = new Date(now.getTime() - KEPT_DAYS * DAY);
    const byName = new Map(models.map((model) => [model.name, model]));
    await this.database.query({
      text: RECORD_MODELS,
      values: [provider, now, JSON.stringify([...byName.values()]), KEPT_NAMES, oldest],
    });
  }

  /** By name. */
  async list(provider: string): Promise<readonly SeenModel[]> {
    return this.database.query<Row<SeenModel>>({ text: LIST_MODELS, values: [provider] });
  }

  async stateOf(provider: string): Promise<ModelListState> {
    const [found] = await this.database.query<Row<ModelListState>>({ text: FIND_LIST, values: [provider] });
    return found ?? { askedAt: null, answeredAt: null, problem: null };
  }

  async seenSince(
    time: Date,
  ): Promise<readonly (ProviderModel & { readonly provider: string; readonly lastSeen: Date })[]> {
    return this.database.query<Row<ProviderModel & { provider: string; lastSeen: Date }>>({
      text: SEEN_MODELS,
      values: [time],
    });
  }
}
