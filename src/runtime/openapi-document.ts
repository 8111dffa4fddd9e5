// Builds the OpenAPI document from the routes and their classes. `npm run openapi` prints it to openapi.json, which the
// service serves.
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DESTINATION_KINDS } from '../destination-kinds/index.js';
import { FORM_TYPE } from '../http/body/form-body.js';
import {
  documentErrors,
  ErrorResponseDto,
  MessagesErrorResponseDto,
  OAuthErrorResponseDto,
  ResponsesErrorResponseDto,
} from '../http/openapi/operation.js';
import openApiExamples from './openapi-examples.json' with { type: 'json' };

/** Recorded requests and responses by operationId: under `request`, and under the status of the response. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, object>>>> = openApiExamples;

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-UNLICENSED' };

const TAGS: Readonly<Record<string, string>> = {
  Embeddings: 'Vectors for texts, tokens, images and files.',
  Chat: 'Answers of chat models, streamed or whole.',
  Messages: 'The same models in the form of Anthropic.',
  Responses: 'The same models in the newer form of OpenAI.',
  Models: 'Available models, their prices, endpoints and health.',
  Catalogue: 'Models and prices of the operator, changed without a restart.',
  'API keys': 'Keys, their limits and their spend.',
  Workspaces: 'Groups of keys, destinations, budgets and provider credentials.',
  'Workspace budgets': 'Spend limits of a workspace: daily, weekly, monthly or lifetime.',
  People: 'People who sign in to the console, and their roles.',
  'Provider credentials': 'Your own keys for providers (BYOK).',
  Guardrails: 'Models, providers and data policies that calls of a workspace, a member or a key may use.',
  'Workload identity': 'Access tokens for jobs, in exchange for the tokens of their own platform.',
  Credits: 'Credits and spend of an account.',
  Presets: 'Members of calls that a workspace keeps under a name.',
  Rerank: 'The order of documents by a query.',
  Notifications: 'Budget alerts: signed events when keys, budgets or credits reach a threshold.',
  Refusals: 'Calls that were refused before they reached a provider.',
  Generations: 'Records of model calls.',
  Activity: 'Daily usage by model and endpoint.',
  Analytics: 'Usage by any combination of metrics and dimensions.',
  'Observability destinations': 'Platforms that receive a trace of every call.',
  Deliveries: 'Delivery status of a destination, dead letters and replays.',
  'Audit log': 'Record of administrative changes.',
  Search: 'Calls, keys, sessions and users by their ids.',
  System: 'State of the service.',
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
  slug: 'The second part of a model id, or the slug of a provider.',
  version: 'The number of a revision.',
  workspace_id: 'Only objects of this workspace.',
};

export function buildOpenApiDocument(application: NestExpressApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('signalbox')
    .setDescription(
      'Issues API keys with spend limits, routes embeddings and chats to any provider, and forwards a trace of every call to ' +
        'observability platforms.',
    )
    .setVersion('1.0.0')
    .addServer('/', 'The service itself')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'API key', description: 'An API key.' })
    .build();
  for (const [name, text] of Object.entries(TAGS)) description.tags?.push({ name, description: text });
  const document = SwaggerModule.createDocument(
    application,
    { ...description, info: { ...description.info, license: LICENSE } },
    {
      extraModels: [
        ErrorResponseDto,
        MessagesErrorResponseDto,
        ResponsesErrorResponseDto,
        OAuthErrorResponseDto,
      ],
    },
  );
  return completed(document);
}

/**
 * Adds what the framework omits: operations without a credential, parameter descriptions, examples of bodies, and the
 * names of the platforms.
 */
function completed(document: OpenAPIObject): OpenAPIObject {
  for (const { configClass, platform } of DESTINATION_KINDS) {
    const schema = document.components?.schemas?.[configClass.name];
    if (schema) Object.assign(schema, { title: platform });
  }
  for (const [name, path] of Object.entries(document.paths)) {
    for (const method of ['get', 'put', 'post', 'patch', 'delete'] as const) {
      const operation = path[method];
      if (!operation) continue;
      operation.security ??= [];
      for (const parameter of operation.parameters ?? []) {
        if ('name' in parameter) parameter.description ??= PARAMETERS[parameter.name] ?? '';
      }
      documentErrors(name, operation);
      describeCsv(operation.responses['200']);
      for (const [place, shown] of Object.entries(EXAMPLES[operation.operationId ?? ''] ?? {})) {
        const body = place === 'request' ? operation.requestBody : operation.responses[place];
        if (body && 'content' in body)
          Object.assign(body.content?.['application/json'] ?? body.content?.[FORM_TYPE] ?? {}, shown);
      }
    }
  }
  return document;
}

/** The framework gives all media types of an operation the schema of its JSON. */
function describeCsv(
  answer: NonNullable<OpenAPIObject['paths'][string]['get']>['responses'][string] | undefined,
): void {
  if (answer && 'content' in answer && answer.content && 'text/csv' in answer.content)
    answer.content['text/csv'] = { schema: { type: 'string' } };
}
