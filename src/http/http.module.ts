// What every route shares: whether there is room for a request, the error filter, the validation of bodies, the log and
// the metrics of requests.
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AdmissionGuard } from './admission.guard.js';
import { Admission } from './admission.js';
import { ErrorFilter } from './error.filter.js';
import { HttpMetrics } from './http-metrics.js';
import { RequestLog } from './request-log.js';
import { RequestObserver } from './request-observer.js';
import { RouteTable } from './route-table.js';
import { SlowTransfers } from './slow-transfers.js';
import { RequestValidationPipe } from './validation.pipe.js';

@Module({
  providers: [
    HttpMetrics,
    RequestLog,
    RequestObserver,
    RouteTable,
    SlowTransfers,
    { provide: APP_FILTER, useClass: ErrorFilter },
    Admission,
    { provide: APP_GUARD, useClass: AdmissionGuard },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
  exports: [Admission, SlowTransfers],
})
export class HttpModule {}
