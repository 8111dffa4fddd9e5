// Latencies of gateways beside those of the same round without one.
import { median, medianDifference, milliseconds, percent, spread, whole } from './statistics.mjs';

const PARTS = ['p50', 'p99', 'p999'];

/** `results` are lists of rounds by gateway; one of the gateways is of the kind `direct`. */
export function compareLatencies(title, results) {
  const gateways = [...results.keys()];
  const ofKind = (kind) => gateways.find((gateway) => gateway.kind === kind);
  const valuesOf = (gateway, part) => results.get(gateway).map((result) => result[part]);
  const direct = ofKind('direct');
  const added = (gateway, part) => medianDifference(valuesOf(gateway, part), valuesOf(direct, part));
  const rows = gateways.map((gateway) => {
    const p50s = valuesOf(gateway, 'p50');
    return [
      gateway.name,
      whole(median(valuesOf(gateway, 'calls'))),
      milliseconds(median(p50s)),
      percent(spread(p50s)),
    ].concat(PARTS.map((part) => (gateway.kind === 'direct' ? '' : milliseconds(added(gateway, part)))));
  });
  return {
    table: {
      title,
      columns: ['gateway', 'calls', 'p50', 'spread', 'p50 added', 'p99 added', 'p99.9 added'],
      rows,
    },
    added: (kind, part) => added(ofKind(kind), part),
  };
}
