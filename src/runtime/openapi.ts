// The OpenAPI document, made from the routes and their classes.
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
/** Everything that the document and its page are served under. */
export const OPENAPI_PATHS = [JSON_URL, YAML_URL, PAGE_URL].map((url) => `/${url}`);

/** Real answers and what was asked for them, by operationId: under `request`, and under the status of the answer. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, object>>>> = openApiExamples;

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-UNLICENSED' };

const TAGS: Readonly<Record<string, string>> = {
  Embeddings: 'Vectors for texts, tokens, images and files.',
  Models: 'What can be called, at which price, and how its endpoints are doing.',
  'API keys': 'Keys, their limits and what they have spent.',
  Workspaces: 'What keys, destinations and budgets belong to.',
  'Workspace budgets': 'What a workspace may spend in a day, a week, a month or altogether.',
  'Provider credentials': 'Keys of your own for providers.',
  Credits: 'What an account has bought and spent.',
  Generations: 'The record of one call.',
  Activity: 'Sums of the calls by day.',
  Analytics: 'Sums of the calls by whatever is asked.',
  'Observability destinations': 'Platforms that a trace of every call is sent to.',
  Deliveries: 'How the deliveries to a destination go, and what can be done about them.',
  'Audit log': 'Who changed what.',
};

const PARAMETERS: Readonly<Record<string, string>> = {
  author: 'The first part of a model id.',
  hash: 'The hash of the key: SHA-256 of its first secret in lower-case hexadecimal.',
  id: 'The id, as its list tells it.',
  interval: 'What the budget is for.',
  limit: 'How many at most.',
  offset: 'How many are left out first.',
  provider: 'Only those of this provider.',
  slug: 'The second part of a model id.',
  workspace_id: 'Only what belongs to this workspace.',
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

/**
 * Says of every operation what the framework leaves unsaid: that it needs no credential, what its parameters are, and
 * what its bodies look like.
 */
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
   * Builds the document and writes both forms. It holds the event loop for some 300 ms: a service does it before it
   * listens, so that no request waits behind the first reader of the document.
   */
  prepare(): void;
}

/**
 * Serves the document to programs, and a page to people; both without a credential, because they show no more than the
 * code does. Each form is written once, and all answers share its bytes, however many callers do not read theirs.
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
