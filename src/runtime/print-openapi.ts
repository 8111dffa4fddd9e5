// `npm run openapi`: writes openapi.json. Needs no database: the application is built and never started.
import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module.js';
import { setUpApplication } from '../app.setup.js';
import { readAppConfig } from '../config/app-config.js';
import { buildOpenApiDocument } from './openapi-document.js';

const config = readAppConfig(
  {
    DATABASE_URL: 'postgresql://nowhere.invalid/none',
    ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
  },
  [],
);
const application = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(config), {
  logger: false,
  bodyParser: false,
});
setUpApplication(application);
const document = buildOpenApiDocument(application);
await writeFile(new URL('../../openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
