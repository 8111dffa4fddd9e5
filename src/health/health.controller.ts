// Whether the process lives, and whether it can serve. Outside the version prefix; no credential.
import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public, RateLimitExempt } from '../auth/auth.decorators.js';
import { AppError } from '../domain/errors.js';
import { AdmittedAs } from '../http/admission.guard.js';
import { Readiness } from '../persistence/readiness.js';

@Public()
@RateLimitExempt()
@AdmittedAs('none')
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('health')
  health(): { status: string } {
    return { status: 'ok' };
  }

  /**
   * 503 while the database is away, lacks migrations, or the process is draining. Not while it refuses calls that are too
   * many: taken away from its balancer, it would leave the others with its share as well.
   */
  @Get('ready')
  async ready(): Promise<{ status: string }> {
    const reason = await this.readiness.reasonNotToServe();
    if (reason !== null)
      throw new AppError('unavailable', { detail: reason, headers: { 'Retry-After': '1' } });
    return { status: 'ready' };
  }
}
