// The metrics of this replica for Prometheus. Outside the version prefix. They contain no secret;
// METRICS_BEARER_TOKEN requires a credential for them.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public, RateLimitExempt } from '../auth/auth.decorators.js';
import { AppConfig } from '../config/app-config.js';
import { Metrics } from '../config/metrics.js';
import { AppError } from '../domain/errors.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';

@Public()
@RateLimitExempt()
@InTrafficClass('metrics')
@ApiExcludeController()
@Controller()
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly config: AppConfig,
  ) {}

  @Get('metrics')
  async show(
    @Res({ passthrough: true }) response: Response,
    @Headers('authorization') authorization = '',
  ): Promise<string> {
    const { metricsBearerToken: token } = this.config;
    if (token !== undefined && !isSame(authorization.replace(/^Bearer +/i, ''), token)) {
      throw new AppError(authorization === '' ? 'missing_credential' : 'invalid_credential');
    }
    const text = await this.metrics.text();
    response.setHeader('content-type', this.metrics.registry.contentType);
    return text;
  }
}

/** Compares in constant time: the digests have the same length. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
