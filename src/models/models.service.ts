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

  /** Includes models without a configured provider: a customer's own key may serve them. */
  list(): CatalogueModel[] {
    return this.catalogue.list();
  }

  /** The models that calls of this key can reach: by the operator's credentials, or by its workspace's own ones. */
  async listFor({ key }: Caller): Promise<CatalogueModel[]> {
    const models = this.catalogue.list();
    const reached = await Promise.all(models.map((model) => this.planner.canReach(key, model)));
    return models.filter((_model, index) => reached[index]);
  }

  get(id: string): CatalogueModel {
    const model = this.catalogue.find(id);
    if (!model) throw new AppError('not_found', { detail: 'there is no embedding model of this name' });
    return model;
  }

  report(id: string): ReportedModel {
    const model = this.get(id);
    const endpoints = model.endpoints.map((endpoint) => ({
      endpoint,
      report: this.reports.of(model, endpoint),
    }));
    return { model, endpoints };
  }
}
