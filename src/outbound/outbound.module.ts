// The only way to the network.
import { Global, Module } from '@nestjs/common';
import { DestinationClient } from './destination-client.js';
import { HttpClient } from './http-client.js';
import { NameResolver, SystemNameResolver } from './name-resolver.js';
import { UrlGuard } from './url-guard.js';

@Global()
@Module({
  providers: [
    HttpClient,
    DestinationClient,
    UrlGuard,
    { provide: NameResolver, useClass: SystemNameResolver },
  ],
  exports: [HttpClient, DestinationClient, UrlGuard],
})
export class OutboundModule {}
