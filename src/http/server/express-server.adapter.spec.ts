import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { ExpressServerAdapter } from './express-server.adapter.js';

const prototypesOf = (...objects: readonly object[]): unknown[] =>
  objects.map((each) => Object.getPrototypeOf(each) as unknown);

describe('the server below Express', () => {
  it("creates requests and responses with Express's prototypes, which Express leaves unchanged", async () => {
    const adapter = new ExpressServerAdapter();
    adapter.initHttpServer();
    const server = adapter.getHttpServer() as Server;
    const seen: unknown[][] = [];
    adapter.use((request: Request, response: Response) => {
      seen.push(prototypesOf(request, response));
      response.status(201).json({ host: request.get('host'), ip: request.ip, path: request.path });
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      seen.push(prototypesOf(request, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answer = await fetch(`http://${host}/a?b=c`);
      expect(answer.status).toBe(201);
      expect(await answer.json()).toEqual({ host, ip: '127.0.0.1', path: '/a' });
      const [before, within] = seen;
      expect(within?.[0]).toBe(before?.[0]);
      expect(within?.[1]).toBe(before?.[1]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
