// Compares catalogue/ with maintained price lists and prints proposals (docs/catalogue.md): `npm run catalogue:update --
// genai-prices=FILE models.dev=FILE litellm=FILE portkey=FOLDER llmgateway=FILE [--take=new,cheaper,dearer] [--confirm='TEXT']
// [--write=FILE] [--table=PAGE] [--post=URL]`. It fetches no list and changes nothing but FILE with the counts of catalogue/lists.json,
// and the table of PAGE. With --post it compares with the catalogue of the service at URL, by the key in SIGNALBOX_KEY, and leaves the
// proposals there for a person to apply; it also names the keys of its account that used models which end.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compare } from './catalogue/compare.mjs';
import { coverageOf, replaceTable, tableOf } from './catalogue/coverage.mjs';
import { postProposals, readExpiring, readService } from './catalogue/post.mjs';
import { ListError, listOf, readListFile } from './catalogue/read-list.mjs';
import { chosenOf, report } from './catalogue/report.mjs';
import { readShipped } from './catalogue/shipped.mjs';
import { writeProposals } from './catalogue/write.mjs';
import { reportFailure } from './support/interruption.mjs';
import { ScriptError } from './support/run-command.mjs';

/** Of the models whose coverage the table shows. */
const YEAR = '2026';
const COUNTS = new URL('../catalogue/lists.json', import.meta.url);

async function run() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      take: { type: 'string', default: 'new' },
      confirm: { type: 'string', multiple: true, default: [] },
      write: { type: 'string' },
      table: { type: 'string' },
      post: { type: 'string' },
    },
  });
  if (positionals.length === 0)
    throw new ScriptError('Name at least one list as NAME=FILE, such as models.dev=api.json');
  const counts = JSON.parse(readFileSync(COUNTS, 'utf8'));
  const lists = [];
  for (const argument of positionals) {
    const [name, path] = argument.split(/=(.*)/s);
    const list = listOf(name);
    if (!path) throw new ScriptError(`${name}: name its file, as ${name}=FILE`);
    lists.push(await readListFile(list, path, counts[list.name] ?? 0));
  }
  const today = new Date().toISOString().slice(0, 10);
  const service = values.post === undefined ? null : { url: values.post, key: process.env.SIGNALBOX_KEY };
  const shipped = service ? await readService(service) : readShipped();
  const proposals = compare(shipped, lists, today);
  process.stdout.write(report(proposals, lists));
  if (service) {
    process.stdout.write(`\n${await postProposals(service, proposals, lists, today)}\n`);
    process.stdout.write(await readExpiring(service));
  }
  if (values.table !== undefined) writeTable(values.table, coverageOf(shipped, lists, today, YEAR));
  if (values.write === undefined) return;
  const chosen = chosenOf(proposals, values.take.split(','), values.confirm);
  writeFileSync(values.write, writeProposals(chosen, today));
  for (const { name, offers } of lists) counts[name] = offers.size;
  writeFileSync(COUNTS, `${JSON.stringify(counts, null, 2)}\n`);
  process.stdout.write(`\nWrote ${chosen.length} proposals to ${values.write}.\n`);
}

function writeTable(page, coverage) {
  writeFileSync(page, replaceTable(readFileSync(page, 'utf8'), tableOf(coverage, YEAR)));
}

try {
  await run();
} catch (error) {
  process.exitCode = reportFailure(error instanceof ListError ? new ScriptError(error.message) : error);
}
