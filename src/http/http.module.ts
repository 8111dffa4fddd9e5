// Shared by every route: load shedding, the error filter, the validation of bodies, request logs and metrics.
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { LoadSheddingGuard } from './load-shedding/load-shedding.guard.js';
import { LoadShedder } from './load-shedding/load-shedder.js';
import { ErrorFilter } from './errors/error.filter.js';
import { FailedRequests } from './errors/failed-requests.js';
import { HttpMetrics } from './observe/http-metrics.js';
import { RequestLog } from './observe/request-log.js';
import { RequestObserver } from './observe/request-observer.js';
import { RouteTable } from './server/route-table.js';
import { SlowTransfers } from './server/slow-transfers.js';
import { RequestValidationPipe } from './fields/validation.pipe.js';

@Module({
  providers: [
    FailedRequests,
    HttpMetrics,
    RequestLog,
    RequestObserver,
    RouteTable,
    SlowTransfers,
    { provide: APP_FILTER, useClass: ErrorFilter },
    LoadShedder,
    { provide: APP_GUARD, useClass: LoadSheddingGuard },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
  exports: [LoadShedder, SlowTransfers],
})
export class HttpModule {}
