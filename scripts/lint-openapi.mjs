// `npm run openapi:lint`: checks openapi.json by the recommended rules of Redocly and by stricter ones.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const FILE = fileURLToPath(new URL('../openapi.json', import.meta.url));
const RULES = {
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'operation-operationId': 'error',
  'operation-singular-tag': 'error',
  'operation-tag-defined': 'error',
  'parameter-description': 'error',
  'tag-description': 'error',
};

const config = await createConfig({ extends: ['recommended'], rules: RULES });
const problems = await lintFromString({
  source: readFileSync(FILE, 'utf8'),
  absoluteRef: FILE,
  config,
});
for (const { severity, ruleId, message, location } of problems) {
  console.error(`${severity}: openapi.json${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
}
// Warnings fail as well: otherwise they go unread.
process.exit(problems.length === 0 ? 0 : 1);
