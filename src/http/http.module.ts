// What every route shares: the error filter, the reading of bodies, their validation.
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ErrorFilter } from './error.filter.js';
import { JsonBodyInterceptor } from './json-body.interceptor.js';
import { RouteTable } from './route-table.js';
import { RequestValidationPipe } from './validation.pipe.js';

@Module({
  providers: [
    RouteTable,
    { provide: APP_FILTER, useClass: ErrorFilter },
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
})
export class HttpModule {}
