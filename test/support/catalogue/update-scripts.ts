// The modules of scripts/catalogue, with the types that tests need.

interface PriceRow {
  readonly amounts: Readonly<Record<string, bigint>>;
}

export interface ReadList {
  readonly offers: ReadonlyMap<string, { readonly prices: readonly PriceRow[] }>;
  readonly problems: readonly { readonly model: string; readonly problem: string }[];
}

export interface Proposal {
  readonly key: string;
  readonly group: string;
  readonly holds: readonly { readonly reason: string; readonly isTyped?: boolean }[];
}

type Shipped = ReadonlyMap<string, object>;

interface Service {
  readonly url: string;
  readonly key: string;
}

interface Coverage {
  readonly released: readonly object[];
  readonly prices: readonly object[];
}

export interface UpdateScripts {
  readonly listOf: (name: string) => object;
  readonly readList: (list: object, content: unknown, before?: number) => ReadList;
  readonly readListFile: (list: object, path: string) => Promise<ReadList>;
  readonly shippedOf: (documents: readonly object[]) => Shipped;
  readonly compare: (shipped: Shipped, lists: readonly ReadList[], today: string) => Proposal[];
  readonly report: (proposals: readonly Proposal[], lists: readonly ReadList[]) => string;
  readonly chosenOf: (
    proposals: readonly Proposal[],
    groups: readonly string[],
    confirmations: readonly string[],
  ) => Proposal[];
  readonly writeProposals: (proposals: readonly Proposal[], today: string) => string;
  readonly readService: (service: Service) => Promise<Shipped>;
  readonly postProposals: (
    service: Service,
    proposals: readonly Proposal[],
    lists: readonly ReadList[],
    today: string,
  ) => Promise<string>;
  readonly readExpiring: (service: Service) => Promise<string>;
  readonly coverageOf: (
    shipped: Shipped,
    lists: readonly ReadList[],
    today: string,
    year: string,
  ) => Coverage;
  readonly tableOf: (coverage: Coverage, year: string) => string;
  readonly replaceTable: (page: string, table: string) => string;
}

/** Plain JavaScript without types, which the compiler must not look for. */
const importPlain = (path: string): Promise<Partial<UpdateScripts>> => import(path);

export async function loadUpdateScripts(): Promise<UpdateScripts> {
  const modules = await Promise.all(
    ['compare', 'coverage', 'post', 'read-list', 'report', 'shipped', 'write'].map((name) =>
      importPlain(`../../../scripts/catalogue/${name}.mjs`),
    ),
  );
  return Object.assign({}, ...modules) as UpdateScripts;
}
