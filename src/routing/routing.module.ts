// Which endpoint serves a call.
import { Module } from '@nestjs/common';
import { Catalogue } from '../catalogue/catalogue.js';
import { MODELS } from '../catalogue/models.js';
import { EmbeddingRouter } from './embedding-router.js';
import { EndpointCaller } from './endpoint-caller.js';
import { HealthBoard } from './health-board.js';
import { RoutePlanner } from './route-planner.js';

@Module({
  providers: [
    { provide: Catalogue, useValue: new Catalogue(MODELS) },
    EmbeddingRouter,
    EndpointCaller,
    HealthBoard,
    RoutePlanner,
  ],
  exports: [EmbeddingRouter, RoutePlanner],
})
export class RoutingModule {}
