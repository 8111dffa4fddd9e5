// Ramp's endpoint for AI usage.
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://api.ramp.com';
const PATH = '/developer/v1/ai-usage/openrouter';
const API_KEY = 'ramp_0123456789abcdefcanary';

export const rampReceiver = otlpReceiver({
  type: 'ramp',
  config: { apiKey: API_KEY, baseUrl: `${ORIGIN}${PATH}` },
  origin: ORIGIN,
  addressField: 'baseUrl',
  path: PATH,
  isAuthorized: ({ authorization }) => authorization === `Bearer ${API_KEY}`,
  maxBytes: 4_194_304,
});
