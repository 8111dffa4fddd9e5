// Latencies of gateways beside those of the same round without one.
import { summaryRow } from './measuring.mjs';
import {
  medianDifference,
  medianOf,
  milliseconds,
  percent,
  spread,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const PARTS = ['p50', 'p99', 'p999'];

/** `results` are lists of rounds by gateway; one of the gateways is of the kind `direct`. */
export function compareLatencies(title, results) {
  const gateways = [...results.keys()];
  const ofKind = (kind) => gateways.find((gateway) => gateway.kind === kind);
  const direct = results.get(ofKind('direct'));
  const added = (gateway, part) =>
    medianDifference(valuesOf(results.get(gateway), part), valuesOf(direct, part));
  const rows = gateways.map((gateway) => {
    const all = results.get(gateway);
    return [
      gateway.name,
      whole(medianOf(all, 'calls')),
      milliseconds(medianOf(all, 'p50')),
      percent(spread(valuesOf(all, 'p50'))),
    ].concat(PARTS.map((part) => (gateway.kind === 'direct' ? '' : milliseconds(added(gateway, part)))));
  });
  return {
    table: {
      title,
      columns: ['gateway', 'calls', 'p50', 'spread', 'p50 added', 'p99 added', 'p99.9 added'],
      rows,
    },
    added: (kind, part) => added(ofKind(kind), part),
    addedRow: (what, part) => {
      const others = gateways.filter(({ kind }) => kind !== 'direct');
      return summaryRow(what, others, (gateway) => milliseconds(added(gateway, part)));
    },
  };
}
