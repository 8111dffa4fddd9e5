// The OTLP gateway of Grafana Cloud.
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://otlp-gateway-prod-eu-west-2.grafana.net';
const API_KEY = 'glc_eyJvIjoiMTIzNDU2In0canary';
const INSTANCE_ID = '123456';

export const grafanaReceiver = otlpReceiver({
  type: 'grafana',
  config: { apiKey: API_KEY, instanceId: INSTANCE_ID, baseUrl: `${ORIGIN}/otlp` },
  origin: ORIGIN,
  addressField: 'baseUrl',
  path: '/otlp/v1/traces',
  isAuthorized: ({ authorization }) =>
    authorization === `Basic ${Buffer.from(`${INSTANCE_ID}:${API_KEY}`).toString('base64')}`,
  maxBytes: 4_194_304,
});
