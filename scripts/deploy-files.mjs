// Writes the files of deploy/ that are made from others, and the threats in docs/threat-model.md. `--check` writes nothing and
// fails if one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { dashboard } from '../deploy/grafana/dashboard.mjs';
import { readFileIfPresent } from './support/files.mjs';
import { toPostmanCollection } from './support/postman.mjs';
import { inRepository } from './support/repository.mjs';
import { withThreats } from './support/threat-model.mjs';

const THREAT_MODEL = inRepository('docs', 'threat-model.md');
const THREATS = inRepository('docs', 'threat-model.yaml');

async function pretty(path, text) {
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}

const files = [
  [inRepository('deploy', 'grafana', 'signalbox.json'), JSON.stringify(dashboard())],
  [
    inRepository('deploy', 'postman', 'signalbox.postman_collection.json'),
    JSON.stringify(toPostmanCollection(JSON.parse(readFileSync(inRepository('openapi.json'), 'utf8')))),
  ],
  [THREAT_MODEL, withThreats(readFileSync(THREAT_MODEL, 'utf8'), parse(readFileSync(THREATS, 'utf8')))],
];
const isCheck = process.argv.includes('--check');
for (const [path, text] of files) {
  const wanted = await pretty(path, text);
  if (readFileIfPresent(path) === wanted) continue;
  if (isCheck) {
    console.error(`${path} is out of date; run: npm run deploy:files`);
    process.exitCode = 1;
  } else writeFileSync(path, wanted);
}
