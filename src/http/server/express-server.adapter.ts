// The HTTP server below Express: what it makes for a request has Express's prototypes from the beginning.
//
// Express gives each request and each response another prototype as it comes. Node 20 and 22 then make a hidden
// class of its own for every single one as soon as a property is added, and whatever reads them never becomes fast: about
// a quarter of a call's processor time. Where the prototype is the right one already, nothing is changed.
import { createServer, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { createRequestClass } from '../body/coalescing-request.js';
import { boundPipelines } from './pipelined-responses.js';

// Milliseconds between looks for requests that take too long to arrive: by so much they may be cut off later than said.
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
      // requireHost of client-errors.ts refuses in its place.
      requireHostHeader: false,
      connectionsCheckingInterval: SLOW_REQUESTS_LOOK,
    });
    this.httpServer.on('request', boundPipelines(this.httpServer)(express));
  }
}

function inherit<Parent extends object>(prototype: object, parent: Parent): Parent {
  return Object.setPrototypeOf(prototype, parent) as Parent;
}
