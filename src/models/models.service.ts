// What is told of the catalogue.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel } from '../catalogue/catalogue-model.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { utcDay } from '../domain/spend.js';
import { EndpointReports } from '../routing/endpoint-reports.js';
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
    private readonly clock: Clock,
  ) {}

  /** The UTC day whose prices are told. */
  today(): string {
    return utcDay(this.clock.now());
  }

  /** Those without a configured provider too: a customer's own key may be all that they need. */
  list(): CatalogueModel[] {
    return this.catalogue.list();
  }

  report(id: string): ReportedModel {
    const model = this.catalogue.find(id);
    if (!model) throw new AppError('not_found', { detail: 'there is no embedding model of this name' });
    const endpoints = model.endpoints.map((endpoint) => ({
      endpoint,
      report: this.reports.of(model, endpoint),
    }));
    return { model, endpoints };
  }
}
