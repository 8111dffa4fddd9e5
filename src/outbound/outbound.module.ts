// The only module with network access to providers and destinations.
import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { DestinationClient } from './destination-client.js';
import { HttpClient } from './http-client.js';
import { NameResolver, SystemNameResolver, slotsOf } from './connections/name-resolver.js';
import { UrlGuard } from './connections/url-guard.js';

@Global()
@Module({
  providers: [
    UrlGuard,
    {
      provide: DestinationClient,
      inject: [UrlGuard, AppConfig],
      useFactory: (guard: UrlGuard, { destinationsProxyUrl }: AppConfig) =>
        new DestinationClient(guard, destinationsProxyUrl),
    },
    {
      provide: HttpClient,
      inject: [AppConfig],
      useFactory: ({ proxies }: AppConfig) => new HttpClient(proxies),
    },
    {
      provide: NameResolver,
      inject: [AppConfig],
      useFactory: ({ threadPoolSize }: AppConfig) => new SystemNameResolver(slotsOf(threadPoolSize)),
    },
  ],
  exports: [HttpClient, DestinationClient, UrlGuard],
})
export class OutboundModule {}
