// A caller that disconnects in the turn of its request: the handler never runs, and the request is still reported.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NextFunction, Request, Response } from 'express';
import { Tracing } from '../../config/tracing/tracing.js';
import type { FinishedRequest, RequestLog } from './request-log.js';
import type { HttpMetrics } from './http-metrics.js';
import { RequestObserver } from './request-observer.js';

describe('RequestObserver', () => {
  let server: Server;
  let begin: NextFunction & jest.Mock;
  let finished: Promise<FinishedRequest>;
  let beforeItBegins: (request: Request) => void;

  beforeEach(async () => {
    begin = jest.fn() as never;
    beforeItBegins = () => undefined;
    finished = new Promise((resolve) => {
      const log = { finished: resolve } as unknown as RequestLog;
      const metrics = { finished: () => undefined } as unknown as HttpMetrics;
      const watch = new RequestObserver(log, metrics, new Tracing(null)).watch(
        () => null,
        () => null,
      );
      server = createServer((incoming, outgoing) => {
        const [request, response] = [incoming as Request, outgoing as Response];
        watch(request, response, () => {
          begin();
          response.end('whole');
        });
        beforeItBegins(request);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function call(): void {
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
    caller.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    caller.on('error', () => undefined);
  }

  it('runs the next middleware, and reports the request at its end', async () => {
    call();
    expect(await finished).toMatchObject({ method: 'GET', status: 200, isAborted: false });
    expect(begin).toHaveBeenCalledTimes(1);
  });

  it('runs nothing for a caller that has disconnected', async () => {
    beforeItBegins = ({ socket }) => socket.destroy();
    call();
    expect(await finished).toMatchObject({ method: 'GET', status: null, isAborted: true });
    expect(begin).not.toHaveBeenCalled();
  });
});
