// The OpenAPI document, generated from the routes and their classes.
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { stringify } from 'yaml';
import { entityTag } from '../http/server/conditional-get.js';
import openApiExamples from './openapi-examples.json' with { type: 'json' };

const JSON_URL = 'api/v1/openapi.json';
const YAML_URL = 'api/v1/openapi.yaml';
const PAGE_URL = 'docs';
/** Paths of the document and its page. */
export const OPENAPI_PATHS = [JSON_URL, YAML_URL, PAGE_URL].map((url) => `/${url}`);

/** Recorded requests and responses by operationId: under `request`, and under the status of the response. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, object>>>> = openApiExamples;

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-UNLICENSED' };

const TAGS: Readonly<Record<string, string>> = {
  Embeddings: 'Vectors for texts, tokens, images and files.',
  Models: 'Available models, their prices, endpoints and health.',
  'API keys': 'Keys, their limits and their spend.',
  Workspaces: 'Groups of keys, destinations, budgets and provider credentials.',
  'Workspace budgets': 'Spend limits of a workspace: daily, weekly, monthly or lifetime.',
  'Provider credentials': 'Your own keys for providers (BYOK).',
  Credits: 'Credits and spend of an account.',
  Generations: 'Records of model calls.',
  Activity: 'Daily usage by model and endpoint.',
  Analytics: 'Usage by any combination of metrics and dimensions.',
  'Observability destinations': 'Platforms that receive a trace of every call.',
  Deliveries: 'Delivery status of a destination, dead letters and replays.',
  'Audit log': 'Record of administrative changes.',
};

const PARAMETERS: Readonly<Record<string, string>> = {
  author: 'The first part of a model id.',
  hash: 'The hash of the key: SHA-256 of its first secret, or of a valid one, in lower-case hexadecimal.',
  id: 'The id, as the list returns it.',
  interval: 'The interval of the budget.',
  limit: 'Maximum number of items to return.',
  name: 'An id, an alias or a bare name of the model, with or without a variant.',
  offset: 'Number of items to skip.',
  provider: 'Only credentials for this provider.',
  slug: 'The second part of a model id.',
  workspace_id: 'Only objects of this workspace.',
};

export function buildOpenApiDocument(application: NestExpressApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('signalbox')
    .setDescription(
      'Issues API keys with spend limits, routes embeddings to any provider, and forwards a trace of every call to ' +
        'observability platforms.',
    )
    .setVersion('1.0.0')
    .addServer('/', 'The service itself')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'API key', description: 'An API key.' })
    .build();
  for (const [name, text] of Object.entries(TAGS)) description.tags?.push({ name, description: text });
  const document = SwaggerModule.createDocument(application, {
    ...description,
    info: { ...description.info, license: LICENSE },
  });
  return completed(document);
}

/** Adds what the framework omits: operations without a credential, parameter descriptions, and examples of bodies. */
function completed(document: OpenAPIObject): OpenAPIObject {
  for (const path of Object.values(document.paths)) {
    for (const method of ['get', 'put', 'post', 'patch', 'delete'] as const) {
      const operation = path[method];
      if (!operation) continue;
      operation.security ??= [];
      for (const parameter of operation.parameters ?? []) {
        if ('name' in parameter) parameter.description ??= PARAMETERS[parameter.name] ?? '';
      }
      for (const [place, shown] of Object.entries(EXAMPLES[operation.operationId ?? ''] ?? {})) {
        const body = place === 'request' ? operation.requestBody : operation.responses[place];
        if (body && 'content' in body) Object.assign(body.content?.['application/json'] ?? {}, shown);
      }
    }
  }
  return document;
}

interface ServedText {
  readonly bytes: Buffer;
  readonly type: string;
  readonly tag: string;
}

export interface OpenApiPages {
  /**
   * Builds the document and serialises both forms. This blocks the event loop for about 300 ms: a service does it before
   * it listens, so that no request waits for the first reader of the document.
   */
  prepare(): void;
}

/**
 * Serves the document and its page without a credential: they show no more than the code does. Each form is serialised
 * once, and all responses share its bytes, so that slow readers hold no memory of their own.
 */
export function serveOpenApi(application: NestExpressApplication): OpenApiPages {
  const build = once(() => buildOpenApiDocument(application));
  const forms = [
    form(application, JSON_URL, () =>
      toServedText(JSON.stringify(build()), 'application/json; charset=utf-8'),
    ),
    form(application, YAML_URL, () => toServedText(stringify(build()), 'text/yaml; charset=utf-8')),
  ];
  SwaggerModule.setup(PAGE_URL, application, build, { customSiteTitle: 'signalbox API', raw: false });
  return { prepare: () => forms.forEach((write) => write()) };
}

function form(application: NestExpressApplication, path: string, write: () => ServedText): () => ServedText {
  const textOf = once(write);
  application.use(`/${path}`, (request: Request, response: Response, next: NextFunction) => {
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    const text = textOf();
    response.set({ ETag: text.tag, 'Content-Type': text.type }).send(text.bytes);
  });
  return textOf;
}

/** The value of the first call, for every call. */
function once<Value extends object>(make: () => Value): () => Value {
  let value: Value | null = null;
  return () => (value ??= make());
}

function toServedText(text: string, type: string): ServedText {
  return { bytes: Buffer.from(text), type, tag: entityTag(text) };
}
