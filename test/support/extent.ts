// How much a test repeats: all that it asks for in `npm run test:all`, less in `npm test`.
export const isEverything = process.env['SIGNALBOX_TEST_ALL'] === 'yes';

const PARTS = 10;
const KINDS_OF_A_ROW = 3;

/** Calls or processes of a test under load: a tenth in `npm test`. */
export const underLoad = (full: number): number => (isEverything ? full : Math.ceil(full / PARTS));

/** Repetitions of the same tests: the first alone in `npm test`. */
export const repeated = <Row>(all: readonly Row[]): readonly Row[] => (isEverything ? all : all.slice(0, 1));

/** Rows that many kinds share: in `npm test` every third of them for each kind, so that each row has several kinds. */
export const shared = <Row>(all: readonly Row[], kind: number): readonly Row[] =>
  isEverything ? all : all.filter((_row, index) => index % KINDS_OF_A_ROW === kind % KINDS_OF_A_ROW);
