// A bare Nest route: the service's adapter, no guard, no pipe, no database, and a constant answer.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const record = JSON.parse(process.env.RECORD);

class RecordController {
  find() {
    return record;
  }
}
class RecordModule {}

// Written out, because plain JavaScript has no decorators.
Get('keys/:hash')(
  RecordController.prototype,
  'find',
  Object.getOwnPropertyDescriptor(RecordController.prototype, 'find'),
);
Controller()(RecordController);
Module({ controllers: [RecordController] })(RecordModule);

process.on('disconnect', () => process.exit());
const application = await NestFactory.create(RecordModule, { logger: false });
await application.listen(0, '127.0.0.1');
process.send({ origin: `http://127.0.0.1:${application.getHttpServer().address().port}` });
