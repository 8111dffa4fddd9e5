// The dashboard in Grafana's form; `npm run deploy:files` writes it to signalbox.json.
import { ROWS } from './panels.mjs';

const COLUMNS = 3;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

function toPanel(panel, id, y, index) {
  return {
    id,
    type: 'timeseries',
    title: panel.title,
    description: panel.description,
    datasource: DATA_SOURCE,
    gridPos: {
      h: HEIGHT,
      w: WIDTH,
      x: (index % COLUMNS) * WIDTH,
      y: y + Math.floor(index / COLUMNS) * HEIGHT,
    },
    fieldConfig: {
      defaults: { unit: panel.unit, min: 0, custom: { fillOpacity: 8, showPoints: 'never' } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: panel.queries.map(({ expression, legend }, position) => ({
      refId: String.fromCharCode(65 + position),
      datasource: DATA_SOURCE,
      expr: expression,
      legendFormat: legend,
      range: true,
    })),
  };
}

/** Grafana's model of the dashboard (schema version 39: Grafana 10.4 and newer). */
export function dashboard() {
  const panels = [];
  let y = 0;
  for (const { title, panels: inside } of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { h: 1, w: 24, x: 0, y },
      panels: [],
    });
    y += 1;
    for (const [index, panel] of inside.entries()) panels.push(toPanel(panel, panels.length + 1, y, index));
    y += Math.ceil(inside.length / COLUMNS) * HEIGHT;
  }
  return {
    uid: 'signalbox',
    title: 'signalbox',
    tags: ['signalbox'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        {
          name: 'job',
          type: 'query',
          label: 'Job',
          datasource: DATA_SOURCE,
          query: { query: 'label_values(signalbox_http_requests_total, job)', refId: 'job' },
          refresh: 2,
          includeAll: true,
          multi: true,
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  };
}
