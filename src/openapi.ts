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
