import { Injectable } from '@nestjs/common';
import { AliasCatalogue, Catalogue, ChatCatalogue, RerankCatalogue } from '../catalogue/catalogue.js';
import type { FoundModel } from '../catalogue/catalogue.js';
import type { CatalogueModel } from '../catalogue/catalogue-model.js';
import type { RerankModel } from '../catalogue/rerank-model.js';
import { permitsEndpoint, permitsModel, permitsRegion } from '../domain/guardrails/guardrails-in-force.js';
import type { GuardrailsInForce } from '../domain/guardrails/guardrails-in-force.js';
import type { GuardrailRef } from '../domain/guardrails/guardrail.js';
import type { Caller } from '../domain/keys/api-key.js';
import type { CallingKey } from '../domain/providers/provider-credential.js';
import type { PersonManager } from '../domain/people/manager.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { Page } from '../domain/page.js';
import { MAX_PRESETS_PER_WORKSPACE, PRESET_MARK } from '../domain/preset.js';
import { utcDay } from '../domain/spend/spend.js';
import { PROVIDERS, providerSlugOf } from '../providers/index.js';
import type { Provider } from '../providers/shared/provider.js';
import { GuardrailAssignmentsRepository } from '../persistence/guardrails/guardrail-assignments.repository.js';
import { PresetsRepository } from '../persistence/presets/presets.repository.js';
import type { PresetOwner } from '../persistence/presets/presets.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { MovingAliases } from '../routing/chat/moving-aliases.js';
import { UnlistedModels } from '../routing/chat/unlisted-models.js';
import type { FoundChatModel } from '../routing/chat/moving-aliases.js';
import { EndpointReports } from '../routing/endpoint-reports.js';
import type { EndpointReport } from '../routing/endpoint-reports.js';
import { guardedEndpoint, Guardrails } from '../routing/guardrails/guardrails.js';
import { CredentialAccess } from '../routing/credentials/credential-access.js';
import type { EndpointsQueryDto } from './dto/endpoints.dto.js';
import type { ReportedEndpoint } from './dto/model-endpoints.dto.js';
import type { ModelCountQueryDto } from './dto/models-query.dto.js';
import { aliasOf, promptPrice } from './listed-model.js';
import type { ListedEndpoint, ListedModel } from './listed-model.js';
import { filterModels } from './model-filters.js';
import type { ModelSpeed } from './model-filters.js';
import { healthOf } from './provider-health.js';
import type { ProviderHealth } from './provider-health.js';

export interface ReportedModel {
  readonly model: ListedModel;
  readonly endpoints: readonly ReportedEndpoint[];
}

export interface ModelWithEndpoint extends ReportedEndpoint {
  readonly model: ListedModel;
}

@Injectable()
export class ModelsService {
  private readonly catalogues: readonly { list(): readonly unknown[] }[];

  constructor(
    private readonly catalogue: Catalogue,
    private readonly chatCatalogue: ChatCatalogue,
    private readonly rerankCatalogue: RerankCatalogue,
    private readonly aliases: MovingAliases,
    private readonly unlisted: UnlistedModels,
    private readonly reports: EndpointReports,
    private readonly access: CredentialAccess,
    private readonly guardrails: Guardrails,
    private readonly presets: PresetsRepository,
    private readonly accounts: AccountsRepository,
    private readonly assignments: GuardrailAssignmentsRepository,
    private readonly clock: Clock,
    aliasCatalogue: AliasCatalogue,
  ) {
    this.catalogues = [catalogue, chatCatalogue, rerankCatalogue, aliasCatalogue];
  }

  /** The UTC day of the listed prices. */
  today(): string {
    return utcDay(this.clock.now());
  }

  /** Others after each change of the catalogue, and each day: from 00:00 UTC on other prices hold, and other targets of aliases. */
  state(): readonly unknown[] {
    return [...this.catalogues.map((catalogue) => catalogue.list()), this.today()];
  }

  /** The models with a configured provider, unless the query wants all of the catalogue. */
  list(query: ModelCountQueryDto, showsUnlisted = false): ListedModel[] {
    const listed = this.withAliases(this.all());
    const isWhole = !query.configured && showsUnlisted;
    return this.listOf(isWhole ? [...listed, ...this.unlisted.list()] : listed, query);
  }

  listEmbeddings(query: ModelCountQueryDto): ListedModel[] {
    return this.listOf(this.catalogue.list(), query);
  }

  /**
   * The models that calls of this key can reach: by the operator's credentials, or by its workspace's own ones, as far as its
   * guardrails leave them. The active presets of the workspace follow, each as its first model under an id of its own.
   */
  async listFor({ key, guardrails }: Caller, filters: ModelCountQueryDto): Promise<ListedModel[]> {
    return this.listReached(key, guardrails, filters);
  }

  /** The same of a key that the person would make in the workspace. Throws `invalid_request` for one that is not within reach. */
  async listForPerson(
    manager: PersonManager,
    workspace: string | undefined,
    filters: ModelCountQueryDto,
  ): Promise<ListedModel[]> {
    const { accountId, person } = manager;
    const workspaceId = await this.accounts.chooseWorkspace(manager, workspace);
    const guardrails = await this.assignments.guardrailsOfMember({ workspaceId, userId: person.id });
    return this.listReached(
      { accountId, workspaceId, hash: '', creatorUserId: person.id },
      guardrails,
      filters,
    );
  }

  private async listReached(
    key: CallingKey & PresetOwner,
    refs: readonly GuardrailRef[] | null,
    filters: ModelCountQueryDto,
  ): Promise<ListedModel[]> {
    const guardrails = refs && (await this.guardrails.inForce(refs));
    const [reached, presets] = await Promise.all([
      this.reachedBy(key, guardrails),
      this.presets.list(key, { offset: 0, limit: MAX_PRESETS_PER_WORKSPACE }),
    ]);
    const byId = new Map(reached.map((model) => [model.id, model]));
    const named = presets.items.flatMap(({ slug, status, model: name }) => {
      const id = status === 'active' && name !== null ? this.aliases.idOf(name) : undefined;
      const model = id === undefined ? undefined : byId.get(id);
      return model ? [{ ...model, id: `${PRESET_MARK}${slug}`, canonicalSlug: model.id, name: slug }] : [];
    });
    return this.filter([...this.withAliases(reached), ...named], filters);
  }

  /** By any name that calls may use. */
  get(name: string): ListedModel {
    const found = this.find(name);
    return 'alias' in found && found.alias
      ? aliasOf({ model: found.model, alias: found.alias })
      : found.model;
  }

  report(name: string): ReportedModel {
    const { model } = this.find(name);
    const endpoints = model.endpoints.map((endpoint) => ({
      endpoint,
      report: this.reports.of(model, endpoint),
    }));
    return { model, endpoints };
  }

  private reachedBy(key: CallingKey, guardrails: GuardrailsInForce | null): Promise<ListedModel[]> {
    if (guardrails === null) return this.access.reachedBy(key, this.all(), () => true);
    const { rules } = guardrails;
    const day = this.today();
    const models = permitsRegion(rules) ? this.all().filter((model) => permitsModel(rules, model)) : [];
    return this.access.reachedBy(key, models, (model, endpoint: ListedEndpoint, credential) =>
      permitsEndpoint(rules, guardedEndpoint({ model, endpoint, credential }, promptPrice(endpoint, day))),
    );
  }

  private find(name: string): FoundModel<CatalogueModel | RerankModel> | FoundChatModel {
    const found = this.catalogue.find(name) ?? this.rerankCatalogue.find(name) ?? this.aliases.find(name);
    if (!found) throw new AppError('not_found', { detail: 'there is no model of this name' });
    return found;
  }

  /** The moving aliases of these models follow. */
  private withAliases(models: readonly ListedModel[]): ListedModel[] {
    const ids = new Set(models.map(({ id }) => id));
    return [
      ...models,
      ...this.aliases
        .list()
        .filter(({ model }) => ids.has(model.id))
        .map(aliasOf),
    ];
  }

  private all(): ListedModel[] {
    return [...this.catalogue.list(), ...this.chatCatalogue.list(), ...this.rerankCatalogue.list()];
  }

  private listOf(
    models: readonly ListedModel[],
    { configured, ...filters }: ModelCountQueryDto,
  ): ListedModel[] {
    return this.filter(
      configured ? models.filter((model) => this.access.isConfigured(model)) : models,
      filters,
    );
  }

  /** All endpoints of the catalogue that the query wants, one page of them. */
  listEndpoints({ provider, model, configured, offset, limit }: EndpointsQueryDto): Page<ModelWithEndpoint> {
    const models = model === undefined ? this.all() : [this.find(model).model];
    const slug = provider === undefined ? undefined : (providerSlugOf(provider) ?? provider);
    const endpoints = models.flatMap((one) =>
      one.endpoints
        .filter((endpoint) => slug === undefined || endpoint.provider === slug)
        .map((endpoint) => ({ model: one, endpoint, report: this.reports.of(one, endpoint) }))
        .filter(({ report }) => !configured || report.state !== 'unconfigured'),
    );
    return { items: endpoints.slice(offset, offset + limit), total: endpoints.length };
  }

  listProviders(): { readonly provider: Provider; readonly health: ProviderHealth }[] {
    const reports = new Map<string, EndpointReport[]>(PROVIDERS.map(({ slug }) => [slug, []]));
    for (const model of this.all())
      for (const endpoint of model.endpoints)
        reports.get(endpoint.provider)?.push(this.reports.of(model, endpoint));
    return PROVIDERS.map((provider) => ({ provider, health: healthOf(reports.get(provider.slug) ?? []) }));
  }

  private filter(
    models: readonly ListedModel[],
    filters: Omit<ModelCountQueryDto, 'configured'>,
  ): ListedModel[] {
    return filterModels(models, filters, {
      now: this.clock.now(),
      speedOf: (model) => this.speedOf(model),
    });
  }

  private speedOf(model: ListedModel): ModelSpeed {
    const reports = model.endpoints.map((endpoint) => this.reports.of(model, endpoint));
    const latencies = reports.flatMap(({ latency }) => latency?.p50 ?? []);
    const throughputs = reports.flatMap(({ throughput }) => throughput?.p50 ?? []);
    return {
      latency: latencies.length === 0 ? null : Math.min(...latencies),
      throughput: throughputs.length === 0 ? null : Math.max(...throughputs),
    };
  }
}
