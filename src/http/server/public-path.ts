// The path below which a reverse proxy serves this service (PUBLIC_PATH). The proxy may keep the path or strip it.
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** A middleware: routes see paths without the public path, and `originalUrl` is the one that the client sent. */
export function acceptPublicPath(publicPath: string): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    const rest = request.url.slice(publicPath.length);
    const isKept = request.url.startsWith(publicPath) && /^(?:[/?]|$)/.test(rest);
    if (isKept) request.url = rest.startsWith('/') ? rest : `/${rest}`;
    else request.originalUrl = publicPath + request.url;
    next();
  };
}
