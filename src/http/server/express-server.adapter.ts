// The HTTP server below Express: it creates requests and responses with Express's prototypes.
//
// Express sets another prototype on each request and response as it arrives. Node 20 and 22 then create a hidden
// class for every single one as soon as a property is added, and code that reads them never becomes fast: about a
// quarter of a call's processor time. With the right prototype from the start, nothing changes.
import { createServer, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { createRequestClass } from './coalescing-request.js';
import { boundPipelines } from './pipelined-responses.js';

// Milliseconds between checks for slow requests: the time-out is late by up to this.
const SLOW_REQUESTS_LOOK = 2_000;

export class ExpressServerAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    const ExpressRequest = createRequestClass();
    class ExpressResponse extends ServerResponse {}
    express.request = inherit(ExpressRequest.prototype, express.request);
    express.response = inherit(ExpressResponse.prototype, express.response);
    this.httpServer = createServer({
      IncomingMessage: ExpressRequest,
      ServerResponse: ExpressResponse,
      // requireHost in client-errors.ts rejects instead.
      requireHostHeader: false,
      connectionsCheckingInterval: SLOW_REQUESTS_LOOK,
    });
    this.httpServer.on('request', boundPipelines(this.httpServer)(express));
  }
}

function inherit<Parent extends object>(prototype: object, parent: Parent): Parent {
  return Object.setPrototypeOf(prototype, parent) as Parent;
}
