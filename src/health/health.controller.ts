// Liveness and readiness of the process. Outside the version prefix; no credential.
import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public, RateLimitExempt } from '../auth/auth.decorators.js';
import { AppError } from '../domain/errors.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { LogHorizonReader } from '../persistence/generations/log-horizon.js';
import { Readiness } from '../persistence/database/readiness.js';

// Seconds; the service's own transactions are shorter.
const HELD_BACK_NOTICEABLY = 1;

interface ReadyDto {
  readonly status: string;
  /** Present when a transaction holds back deliveries. */
  readonly details?: {
    readonly deliveries_held_back_seconds: number;
    readonly deliveries_held_back_by: string;
  };
}

@Public()
@RateLimitExempt()
@InTrafficClass('none')
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly horizon: LogHorizonReader,
  ) {}

  @Get('health')
  health(): { status: string } {
    return { status: 'ok' };
  }

  /**
   * Returns 503 while the database is unreachable or lacks migrations, or the process is draining. Not during load
   * shedding: without this process the others would get its calls as well. Nor while a transaction holds back deliveries:
   * no other process could deliver, and the details name the transaction.
   */
  @Get('ready')
  async ready(): Promise<ReadyDto> {
    const reason = await this.readiness.reasonNotToServe();
    if (reason !== null)
      throw new AppError('unavailable', { detail: reason, headers: { 'Retry-After': '1' } });
    const { heldBackSeconds, heldBackBy } = await this.horizon.read();
    if (heldBackSeconds < HELD_BACK_NOTICEABLY) return { status: 'ready' };
    const details = {
      deliveries_held_back_seconds: Math.round(heldBackSeconds),
      deliveries_held_back_by: heldBackBy ?? 'unknown',
    };
    return { status: 'ready', details };
  }
}
