// The guard that reads bodies, in its own module: guards run in the order of their modules, and this one runs last.
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { HttpModule } from '../http.module.js';
import { JsonBodyGuard } from './json-body.guard.js';

@Module({ imports: [HttpModule], providers: [{ provide: APP_GUARD, useClass: JsonBodyGuard }] })
export class JsonBodyModule {}
