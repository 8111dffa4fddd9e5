// Bare Nest routes on Express, as Nest makes the server: a gateway with the service's HTTP client, and a constant record.
// They check no key, keep no record of a call and query no database.
import 'reflect-metadata';
import { Body, Controller, Get, Module, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Agent, request } from 'undici';

const { UPSTREAM_ORIGIN: upstreamOrigin, RECORD: record = 'null' } = process.env;
const dispatcher = new Agent({ connections: 256 });
const constant = JSON.parse(record);

class BareController {
  find() {
    return constant;
  }

  async create(body, response) {
    const answer = await request(`${upstreamOrigin}/v1/embeddings`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('content-length', bytes.length);
    response.statusCode = answer.statusCode;
    response.end(bytes);
  }
}
class BareModule {}

// Written out, because plain JavaScript has no decorators.
const { prototype } = BareController;
Get('keys/:hash')(prototype, 'find', Object.getOwnPropertyDescriptor(prototype, 'find'));
Post('v1/embeddings')(prototype, 'create', Object.getOwnPropertyDescriptor(prototype, 'create'));
Body()(prototype, 'create', 0);
Res()(prototype, 'create', 1);
Controller()(BareController);
Module({ controllers: [BareController] })(BareModule);

process.on('disconnect', () => process.exit());
const application = await NestFactory.create(BareModule, { logger: false });
await application.listen(0, '127.0.0.1');
process.send({ origin: `http://127.0.0.1:${application.getHttpServer().address().port}` });
