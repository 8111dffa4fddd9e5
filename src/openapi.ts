// The OpenAPI document, made from the routes and their classes.
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';

export function buildOpenApiDocument(application: INestApplication): OpenAPIObject {
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
  return SwaggerModule.createDocument(application, description);
}

/** The document for programs, and a page for people; both without a credential, for they tell no more than the code. */
export function serveOpenApi(application: INestApplication): void {
  // Made when it is first asked for: most processes never are.
  SwaggerModule.setup('docs', application, () => buildOpenApiDocument(application), {
    jsonDocumentUrl: 'api/v1/openapi.json',
    yamlDocumentUrl: 'api/v1/openapi.yaml',
    customSiteTitle: 'signalbox API',
  });
}
