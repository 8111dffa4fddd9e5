// Finds chat models by all names of calls, moving aliases among them (docs/contract.md#models).
import { Injectable, Logger } from '@nestjs/common';
import { rowOn } from '../../catalogue/catalogue-model.js';
import { AliasCatalogue, ChatCatalogue } from '../../catalogue/catalogue.js';
import type { FoundModel } from '../../catalogue/catalogue.js';
import type { MovingAlias } from '../../catalogue/moving-alias.js';
import type { ChatModel } from '../../domain/chat/chat-model.js';
import { Clock } from '../../domain/clock.js';
import { utcDay } from '../../domain/spend/spend.js';
import { CredentialAccess } from '../credentials/credential-access.js';

export interface AliasTarget {
  readonly alias: MovingAlias;
  readonly model: ChatModel;
}

export interface FoundChatModel extends FoundModel<ChatModel> {
  /** Absent: the name is the model's own. */
  readonly alias?: MovingAlias;
}

@Injectable()
export class MovingAliases {
  private readonly logger = new Logger('Catalogue');
  /** By alias, those that the log has named. */
  private readonly passedOver = new Map<string, string>();

  constructor(
    private readonly aliases: AliasCatalogue,
    private readonly models: ChatCatalogue,
    private readonly access: CredentialAccess,
    private readonly clock: Clock,
  ) {}

  /** A call finds its models once, so that it has one target from its start to its end. Throws as ChatCatalogue.find. */
  find(name: string): FoundChatModel | undefined {
    const found = name.startsWith('~') ? this.aliases.find(name) : undefined;
    if (!found) return this.models.find(name);
    const alias = found.model;
    const model = this.targetOf(alias);
    return model && { model, sort: found.sort, alias };
  }

  /** Of the models that this step finds. */
  get version(): number {
    return this.models.version;
  }

  /** For lists: of a name that moves, the id of its target. No name of a disabled model or alias throws. */
  idOf(name: string): string | undefined {
    if (!name.startsWith('~')) return this.models.idOf(name);
    const alias = this.aliases.get(this.aliases.idOf(name) ?? '');
    return alias && this.targetOf(alias)?.id;
  }

  list(): AliasTarget[] {
    return this.aliases.list().flatMap((alias) => {
      const model = this.targetOf(alias);
      return model ? [{ alias, model }] : [];
    });
  }

  /**
   * The newest target that the operator has configured and priced: without it the one before stays in force. Where there is
   * none, the newest one's own error says why. Undefined: none is in the catalogue.
   */
  private targetOf({ id, targets }: MovingAlias): ChatModel | undefined {
    const day = utcDay(this.clock.now());
    const begun = targets.filter(({ effectiveFrom }) => effectiveFrom <= day);
    const known = begun.flatMap(({ target }) => this.models.get(target) ?? []);
    const model = known.find((candidate) => this.isServed(candidate, day)) ?? known[0];
    this.note(id, begun[0]?.target, model?.id);
    return model;
  }

  private isServed({ endpoints }: ChatModel, day: string): boolean {
    return endpoints.some(
      (endpoint) =>
        rowOn(endpoint.prices, day) !== null && this.access.isConfigured({ endpoints: [endpoint] }),
    );
  }

  /** Once for each target that is passed over. */
  private note(alias: string, wanted: string | undefined, used: string | undefined): void {
    if (wanted === undefined || wanted === used) this.passedOver.delete(alias);
    else if (this.passedOver.get(alias) !== wanted) {
      this.passedOver.set(alias, wanted);
      this.logger.warn(
        `${alias}: ${wanted} is disabled, unconfigured, unpriced or not in the catalogue; ${used ?? 'no target'} is in force`,
      );
    }
  }
}
