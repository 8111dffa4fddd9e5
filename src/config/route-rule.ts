// Route rules: metadata that a decorator sets on a method or its class.
import { SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

export type RouteDecorator = MethodDecorator & ClassDecorator;

const reflector = new Reflector();

export class RouteRule<Value> {
  /** Keyed by controller and method: several controllers may inherit a method. */
  private readonly known = new WeakMap<object, Map<object, Value | undefined>>();

  constructor(private readonly name: string) {}

  is(value: Value): RouteDecorator {
    return SetMetadata(this.name, value);
  }

  /** The value of the method, else of its class. Cached: it never changes, and every request reads half a dozen. */
  of(context: ExecutionContext): Value | undefined {
    const controller = context.getClass();
    const method = context.getHandler();
    let ofController = this.known.get(controller);
    if (!ofController) this.known.set(controller, (ofController = new Map()));
    if (!ofController.has(method)) {
      ofController.set(method, reflector.getAllAndOverride(this.name, [method, controller]));
    }
    return ofController.get(method);
  }
}
