// The folders of a room have an order as well: none imports another that imports it, directly or around others. Files beside the
// folders, which wire them, and tests do not count.
const { options } = require('./.dependency-cruiser.cjs');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'folders-have-an-order',
      comment: 'Move the shared file into the folder that imports no other.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/' },
      to: { circular: true },
    },
  ],
  options: {
    ...options,
    exclude: { path: ['^src/persistence/generated', '^src/[^/]+/?[^/]*\\.ts$', '\\.spec\\.ts$', '^test/'] },
  },
};
