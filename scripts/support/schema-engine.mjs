// Prisma's schema engine as WebAssembly, on one connection. It fills two gaps of the adapter.
import { readFile } from 'node:fs/promises';
import { loadPostgres } from './database-connection.mjs';

// PostgreSQL's internal "char", which catalogues use and the adapter does not support.
const INTERNAL_CHAR_OID = 18;
const TEXT_OID = 25;

/** Excludes nothing from the engine's work. */
export const noFilters = { externalTables: [], externalEnums: [] };

let loadedBindings;

async function loadBindings() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const location = import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const program = await readFile(new URL('schema_engine_bg.wasm', location));
  const { instance } = await WebAssembly.instantiate(program, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return bindings;
}

/**
 * Runs every statement on the one connection, so that a transaction opened there encloses the engine's statements.
 */
function createFactory(factory, connection, columnTypes, onScriptError) {
  const internalCharColumns = new WeakMap();
  const query = async (statement) => {
    const result = await connection.query(statement);
    const columns = result.fields.flatMap(({ dataTypeID }, index) =>
      dataTypeID === INTERNAL_CHAR_OID ? [index] : [],
    );
    for (const index of columns) result.fields[index].dataTypeID = TEXT_OID;
    internalCharColumns.set(result.rows, columns);
    return result;
  };
  const bindConnection = async () => {
    const adapter = await factory.connect();
    adapter.underlyingDriver().query = query;
    const { queryRaw } = adapter;
    adapter.queryRaw = async (statement) => {
      const result = await queryRaw.call(adapter, statement);
      for (const index of internalCharColumns.get(result.rows))
        result.columnTypes[index] = columnTypes.Character;
      return result;
    };
    // The adapter splits a script at every semicolon, also inside function bodies, so the whole script goes to the
    // server.
    adapter.executeScript = async (script) => {
      try {
        await connection.query(script);
      } catch (error) {
        onScriptError(error, script);
        throw error;
      }
    };
    return adapter;
  };
  const { adapterName, provider } = factory;
  return { adapterName, provider, connect: bindConnection, connectToShadowDb: bindConnection };
}

/**
 * `connection` is the engine's connection. `takeScriptError` returns the server's error about the script that failed
 * last: the engine reports only part of it.
 */
export async function openSchemaEngine(databaseUrl) {
  const { Pool, Client } = await loadPostgres(databaseUrl);
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } =
    await import('@prisma/driver-adapter-utils');
  // Once in a process: the bindings keep one program's memory in variables of their module.
  loadedBindings ??= loadBindings();
  const bindings = await loadedBindings;
  // The engine's hook for panics; without it a failed assertion in there ends the process.
  globalThis.PRISMA_WASM_PANIC_REGISTRY ??= { set_message: (message) => console.error(message) };

  const pool = new Pool({ Client, max: 1, application_name: 'signalbox migrations' });
  pool.on('error', () => undefined);
  const connection = await pool.connect();
  connection.on('error', () => undefined);
  let scriptError;
  const factory = createFactory(
    new PrismaPg(pool, { schema: connection.state.schema }),
    connection,
    ColumnTypeEnum,
    (error, script) => {
      const line = error.position ? script.slice(0, Number(error.position)).split('\n').length : undefined;
      scriptError = `${error.message}${line ? ` (line ${line})` : ''}`;
    },
  );
  const datamodel = ['schema.prisma', 'datasource db {\n  provider = "postgresql"\n}\n'];
  const engine = await bindings.SchemaEngine.new(
    { datamodels: [datamodel] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(factory),
  );
  return {
    engine,
    connection,
    takeScriptError: () => scriptError,
    async close() {
      connection.release();
      await pool.end();
    },
  };
}

/** The engine's message, without the list of its own functions that it appends. */
export function describeEngineError(error) {
  return error.message.split(/\n +0: /)[0].trim();
}
