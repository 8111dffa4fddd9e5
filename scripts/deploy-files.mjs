// Writes the files of deploy/ that are made from others, the table of alerts in docs/operating.md and the threats in
// docs/threat-model.md. `--check` writes nothing and fails if one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { dashboard } from '../deploy/grafana/dashboard.mjs';
import { readFileIfPresent } from './support/files.mjs';
import { toPostmanCollection } from './support/postman.mjs';
import { inRepository } from './support/repository.mjs';
import { withThreats } from './support/threat-model.mjs';

const ALERTS = inRepository('deploy', 'prometheus', 'alerts.yaml');
const OPERATING = inRepository('docs', 'operating.md');
const THREAT_MODEL = inRepository('docs', 'threat-model.md');
const THREATS = inRepository('docs', 'threat-model.yaml');
const TABLE_HEAD = '| Alert ';

function alertTable() {
  const { groups } = parse(readFileSync(ALERTS, 'utf8'));
  const escape = (text) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
  const rows = groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr, for: duration, annotations }) =>
      [`\`${alert}\``, `\`${escape(expr)}\``, duration, escape(annotations.action)].join(' | '),
    );
  return [
    '| Alert | PromQL | For | Action |',
    '| --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
  ];
}

/** The document with the table of alerts replaced. */
function withAlertTable(document) {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => line.startsWith(TABLE_HEAD));
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return [...lines.slice(0, start), ...alertTable(), ...lines.slice(start + length)].join('\n');
}

async function pretty(path, text) {
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}

const files = [
  [inRepository('deploy', 'grafana', 'signalbox.json'), JSON.stringify(dashboard())],
  [
    inRepository('deploy', 'postman', 'signalbox.postman_collection.json'),
    JSON.stringify(toPostmanCollection(JSON.parse(readFileSync(inRepository('openapi.json'), 'utf8')))),
  ],
  [OPERATING, withAlertTable(readFileSync(OPERATING, 'utf8'))],
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
