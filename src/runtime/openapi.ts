// Serves the OpenAPI document, openapi.json, as JSON, as YAML and as a page.
import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { entityTag } from '../http/server/conditional-get.js';
import { toYaml } from './yaml-text.js';

const JSON_URL = 'api/v1/openapi.json';
const YAML_URL = 'api/v1/openapi.yaml';
const PAGE_URL = 'docs';
/** Paths of the document and its page. */
export const OPENAPI_PATHS = [JSON_URL, YAML_URL, PAGE_URL].map((url) => `/${url}`);

/**
 * Serves the document and its page without a credential: they show no more than the code does. The file is read at the
 * first request: to build the document from the routes takes 700 ms of each start, and to read it 12 ms.
 */
export function serveOpenApi(application: NestExpressApplication, publicPath: string): void {
  const read = once(() => readDocument(publicPath));
  serveText(application, JSON_URL, 'application/json', () => Promise.resolve(JSON.stringify(read())));
  serveText(application, YAML_URL, 'text/yaml', () => toYaml(read()));
  SwaggerModule.setup(PAGE_URL, application, read, { customSiteTitle: 'signalbox API', raw: false });
}

function readDocument(publicPath: string): OpenAPIObject {
  const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  const document = JSON.parse(text) as OpenAPIObject;
  const servers = document.servers?.map((server) => ({ ...server, url: publicPath }));
  return publicPath === '' || servers === undefined ? document : { ...document, servers };
}

/** The text is made once, and all responses share its bytes: slow readers hold no memory of their own. */
function serveText(
  application: NestExpressApplication,
  path: string,
  type: string,
  write: () => Promise<string>,
): void {
  const textOf = once(() => write().then((text) => ({ bytes: Buffer.from(text), tag: entityTag(text) })));
  application.use(`/${path}`, (request: Request, response: Response, next: NextFunction) => {
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    textOf().then(
      ({ bytes, tag }) => response.set({ ETag: tag, 'Content-Type': `${type}; charset=utf-8` }).send(bytes),
      next,
    );
  });
}

/** The value of the first call, for every call. */
function once<Value extends object>(make: () => Value): () => Value {
  let value: Value | null = null;
  return () => (value ??= make());
}
