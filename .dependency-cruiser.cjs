// The layers (docs/architecture.md#layers) as rules: imports go down, never up, never sideways in a layer, never in a circle.
const LAYERS = [
  ['domain', 'concurrency', 'json', 'vectors'],
  ['destination-kinds', 'providers', 'catalogue', 'config'],
  ['persistence', 'outbound'],
  ['history'],
  ['auth', 'http', 'routing', 'spend', 'deliveries', 'upkeep'],
  [
    'destinations',
    'federation',
    'keys',
    'embeddings',
    'rerank',
    'chat',
    'health',
    'workspaces',
    'generations',
    'models',
    'credits',
    'notifications',
    'refusals',
    'search',
    'byok',
    'guardrails',
    'activity',
    'people',
    'audit',
    'system',
  ],
  ['console'],
];
const folder = (names) => `^src/(${names.join('|')})/`;
const top = '^src/([^/]+\\.ts$|runtime/|cli/)';

const layerRules = LAYERS.flatMap((names, level) => [
  {
    name: `layer-${level}-not-up`,
    comment: `Layer ${level} must not import the layers above it.`,
    severity: 'error',
    from: { path: folder(names) },
    to: { path: [top, ...LAYERS.slice(level + 1).map(folder)] },
  },
  {
    name: `layer-${level}-not-sideways`,
    comment: `The folders of layer ${level} must not import each other: shared code moves down.`,
    severity: 'error',
    from: { path: folder(names) },
    to: { path: folder(names), pathNot: '^src/$1/' },
  },
]);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'no-circles',
      comment: 'Under ES modules a circle of injected classes fails at load.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'database-only-in-persistence',
      comment: 'Prisma and pg have one importer.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/persistence/' },
      to: { path: ['@prisma/', 'node_modules/pg/', '^src/persistence/generated/'] },
    },
    {
      name: 'statements-only-in-persistence',
      comment:
        'Other rooms call repositories. Upkeep, commands and the quickstart run the statements of persistence on whole tables.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(persistence|upkeep|cli|runtime)/' },
      to: {
        path: '^src/persistence/(database/database|.*-statements)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'sockets-only-in-outbound',
      comment: 'One place opens connections to others: pooled, timed, guarded.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/outbound/' },
      to: { path: 'node_modules/undici/' },
    },
    {
      name: 'opentelemetry-only-when-asked-for',
      comment:
        'It is loaded by the file that sends spans and by its sampler, and these only where a collector is named.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/config/tracing/(otlp-tracer|operator-sampler)\\.' },
      to: { path: 'node_modules/@opentelemetry/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'kinds-without-body-frameworks',
      comment: 'The delivery process loads the kinds: without these packages it takes 25 MB less.',
      severity: 'error',
      from: { path: '^src/(destination-kinds|deliveries|persistence|outbound|config|domain)/' },
      to: { path: 'node_modules/(@nestjs/swagger|class-validator|class-transformer|express)/' },
    },
    {
      name: 'no-catalogue-where-no-calls-are',
      comment: 'The delivery process loads these folders: it neither reads nor keeps models.',
      severity: 'error',
      from: {
        path: '^src/(destination-kinds|deliveries|persistence|outbound|history|upkeep|config|domain)/',
      },
      to: {
        path: '^src/catalogue/',
        pathNot: '^src/catalogue/stored-entry\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'otlp-tracer-only-dynamically',
      comment: 'A plain import would load it in every process.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/config/tracing/(otlp-tracer|operator-sampler)\\.' },
      to: { path: '^src/config/tracing/(otlp-tracer|operator-sampler)\\.ts$', dynamic: false },
    },
    {
      name: 'controllers-talk-to-services',
      severity: 'error',
      comment: 'A controller has no way to the database of its own.',
      from: { path: '\\.controller\\.ts$', pathNot: '^src/health/' },
      to: { path: '^src/persistence/' },
    },
    {
      name: 'vector-kernel-by-its-entry',
      comment: 'The kernel is replaced by changing one import (src/vectors/README.md).',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/vectors/' },
      to: { path: '^src/vectors/', pathNot: '^src/vectors/vectors\\.ts$' },
    },
    {
      name: 'byte-scanner-only-in-providers',
      comment: 'The scanner reads the answers of providers and the bodies of calls, and nothing else.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(json|providers|chat|routing/guardrails)/' },
      to: { path: '^src/json/' },
    },
    {
      name: 'ground-is-plain',
      comment: 'Layer 0 is plain TypeScript: no framework, no database, no HTTP.',
      severity: 'error',
      from: { path: folder(LAYERS[0]), pathNot: '\\.spec\\.ts$' },
      to: { path: 'node_modules/', pathNot: 'node_modules/(re2js|@types)/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^src/(vectors|persistence)/generated'] },
    exclude: { path: '^src/persistence/generated' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
  },
};
