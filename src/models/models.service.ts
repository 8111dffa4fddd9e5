import { Injectable } from '@nestjs/common';
import type { CatalogueModel } from '../catalogue/catalogue-model.js';
import { Catalogue } from '../catalogue/catalogue.js';
import type { Caller } from '../domain/keys/api-key.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { utcDay } from '../domain/spend/spend.js';
import { EndpointReports } from '../routing/endpoints/endpoint-reports.js';
import { RoutePlanner } from '../routing/route-planner.js';
import type { ReportedEndpoint } from './dto/model-endpoints.dto.js';
import type { ModelCountQueryDto } from './dto/models-query.dto.js';
import { filterModels } from './model-filters.js';
import type { ModelSpeed } from './model-filters.js';

export interface ReportedModel {
  readonly model: CatalogueModel;
  readonly endpoints: readonly ReportedEndpoint[];
}

@Injectable()
export class ModelsService {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly reports: EndpointReports,
    private readonly planner: RoutePlanner,
    private readonly clock: Clock,
  ) {}

  /** The UTC day of the listed prices. */
  today(): string {
    return utcDay(this.clock.now());
  }

  /** The models with a configured provider, unless the query wants all of the catalogue. */
  list({ configured, ...filters }: ModelCountQueryDto): CatalogueModel[] {
    const models = this.catalogue.list();
    return this.filter(
      configured ? models.filter((model) => this.planner.isConfigured(model)) : models,
      filters,
    );
  }

  /** The models that calls of this key can reach: by the operator's credentials, or by its workspace's own ones. */
  async listFor({ key }: Caller, filters: ModelCountQueryDto): Promise<CatalogueModel[]> {
    const models = this.catalogue.list();
    const reached = await Promise.all(models.map((model) => this.planner.canReach(key, model)));
    return this.filter(
      models.filter((_model, index) => reached[index]),
      filters,
    );
  }

  /** By any name that calls may use. */
  get(name: string): CatalogueModel {
    const found = this.catalogue.find(name);
    if (!found) throw new AppError('not_found', { detail: 'there is no embedding model of this name' });
    return found.model;
  }

  report(name: string): ReportedModel {
    const model = this.get(name);
    const endpoints = model.endpoints.map((endpoint) => ({
      endpoint,
      report: this.reports.of(model, endpoint),
    }));
    return { model, endpoints };
  }

  private filter(
    models: readonly CatalogueModel[],
    filters: Omit<ModelCountQueryDto, 'configured'>,
  ): CatalogueModel[] {
    return filterModels(models, filters, {
      now: this.clock.now(),
      speedOf: (model) => this.speedOf(model),
    });
  }

  private speedOf(model: CatalogueModel): ModelSpeed {
    const reports = model.endpoints.map((endpoint) => this.reports.of(model, endpoint));
    const latencies = reports.flatMap(({ latency }) => latency?.p50 ?? []);
    const throughputs = reports.flatMap(({ throughput }) => throughput?.p50 ?? []);
    return {
      latency: latencies.length === 0 ? null : Math.min(...latencies),
      throughput: throughputs.length === 0 ? null : Math.max(...throughputs),
    };
  }
}
