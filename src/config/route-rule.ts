// What a route says of itself by a decorator above its method or its class.
import { SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

export type RouteDecorator = MethodDecorator & ClassDecorator;

const reflector = new Reflector();

export class RouteRule<Value> {
  /** By controller and method, which several controllers may have inherited. */
  private readonly known = new WeakMap<object, Map<object, Value | undefined>>();

  constructor(private readonly name: string) {}

  /** The decorator. */
  is(value: Value): RouteDecorator {
    return SetMetadata(this.name, value);
  }

  /**
   * The method's or else its class's; undefined where neither says anything. Looked up once: it never changes, and every
   * request asks for half a dozen.
   */
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
