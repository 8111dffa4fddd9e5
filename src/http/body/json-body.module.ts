// The guard that reads bodies, in a module of its own: guards ask in the order of their modules, and it comes last.
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { HttpModule } from '../http.module.js';
import { JsonBodyGuard } from './json-body.guard.js';

@Module({ imports: [HttpModule], providers: [{ provide: APP_GUARD, useClass: JsonBodyGuard }] })
export class JsonBodyModule {}
