// How much a test repeats: all that it asks for in `npm run test:all`, less in `npm test`.
export const isEverything = process.env['SIGNALBOX_TEST_ALL'] === 'yes';

const PARTS = 10;

/** Calls or processes of a test under load: a tenth in `npm test`. */
export const underLoad = (full: number): number => (isEverything ? full : Math.ceil(full / PARTS));
