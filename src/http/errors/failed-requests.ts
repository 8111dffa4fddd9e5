// Passes on the error of each failed request, before its response leaves.
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { AppError } from '../../domain/errors.js';

type Listener = (request: Request, error: AppError) => void;

@Injectable()
export class FailedRequests {
  private listener: Listener = () => undefined;

  /** Sets the listener. It must not throw. */
  listen(listener: Listener): void {
    this.listener = listener;
  }

  report(request: Request, error: AppError): void {
    this.listener(request, error);
  }
}
