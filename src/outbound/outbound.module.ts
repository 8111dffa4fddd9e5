// The only way to the network.
import { Global, Module } from '@nestjs/common';
import { HttpClient } from './http-client.js';

@Global()
@Module({ providers: [HttpClient], exports: [HttpClient] })
export class OutboundModule {}
