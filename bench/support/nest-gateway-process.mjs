// The bare Nest gateway: the service's adapter and HTTP client, and one route. It has no keys, checks no vectors,
// keeps no records and notifies no other process.
import 'reflect-metadata';
import { Body, Controller, Module, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Agent, request } from 'undici';

const url = `${process.env.UPSTREAM_ORIGIN}/v1/embeddings`;
const dispatcher = new Agent({ connections: 256 });

class EmbeddingsController {
  async create(body, response) {
    const answer = await request(url, {
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
class GatewayModule {}

// Written out, because plain JavaScript has no decorators.
const { prototype } = EmbeddingsController;
Post('v1/embeddings')(prototype, 'create', Object.getOwnPropertyDescriptor(prototype, 'create'));
Body()(prototype, 'create', 0);
Res()(prototype, 'create', 1);
Controller()(EmbeddingsController);
Module({ controllers: [EmbeddingsController] })(GatewayModule);

process.on('disconnect', () => process.exit());
const application = await NestFactory.create(GatewayModule, { logger: false });
await application.listen(0, '127.0.0.1');
process.send({ origin: `http://127.0.0.1:${application.getHttpServer().address().port}` });
