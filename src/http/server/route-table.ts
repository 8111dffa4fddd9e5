// The methods of every path, so that a known path with another method is answered with 405 instead of 404
// (docs/contract.md#errors).
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Application } from 'express';

interface RouteLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

@Injectable()
export class RouteTable {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  methodsFor(path: string): string[] {
    const application = this.adapterHost.httpAdapter.getInstance<Application>();
    const layers = application.router.stack as unknown as RouteLayer[];
    const methods = layers
      .filter((layer) => layer.route && matches(layer, path))
      .flatMap((layer) => Object.keys(layer.route?.methods ?? {}).map((method) => method.toUpperCase()));
    return [...new Set(methods)].toSorted();
  }
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    // A path with a malformed escape matches no route.
    return false;
  }
}
