// How the cost of a call came about.
import { useQuery } from '@tanstack/react-query';
import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api/client';
import type { Generation } from '../../api/generations';
import { Section } from '../../components/display/section';
import { Money } from '../../components/display/values';
import { formatCount, formatMoney } from '../../format';
import styles from './generations.module.css';

const MILLION = 1_000_000;
// A difference below the last digit that the service stores.
const EPSILON = 1e-12;

const endpointsOfModelQuery = (model: string) =>
  queryOptions({
    queryKey: ['model-endpoints', model],
    queryFn: async ({ signal }) => {
      const [author = '', slug = ''] = model.split('/');
      const params = { path: { author, slug } };
      return (await call(api.GET('/api/v1/models/{author}/{slug}/endpoints', { params, signal }))).data
        .endpoints;
    },
    staleTime: 60_000,
  });

export function Cost({ generation }: { readonly generation: Generation }) {
  const { usage, tokens_prompt: tokens, upstream_inference_cost: upstream, is_byok: isByok } = generation;
  const { data: endpoints } = useQuery(endpointsOfModelQuery(generation.model));
  const endpoint = endpoints?.find(({ provider_name: name }) => name === generation.provider_name);
  const price = endpoint === undefined ? null : Number(endpoint.pricing.prompt);
  const product = price === null || tokens === null ? null : tokens * price;
  const isToday = product !== null && Math.abs(product - usage) < EPSILON;
  return (
    <Section title="Cost">
      <dl className={styles.sum}>
        {tokens !== null && (
          <>
            <dt>Input tokens</dt>
            <dd>{formatCount(tokens)}</dd>
          </>
        )}
        {price !== null && isToday && (
          <>
            <dt>Price of a million tokens</dt>
            <dd>{formatMoney(Number((price * MILLION).toPrecision(12)))}</dd>
          </>
        )}
        {upstream !== null && upstream !== usage && (
          <>
            <dt>{isByok ? 'Paid to the provider with your own key' : 'Cost at the provider'}</dt>
            <dd>
              <Money usd={upstream} />
            </dd>
          </>
        )}
        <dt className={styles.total}>Charged to the key</dt>
        <dd className={styles.total}>
          <Money usd={usage} />
        </dd>
      </dl>
      {isToday && price !== null && tokens !== null && tokens > 0 && (
        <p className={styles.note}>
          {formatCount(tokens)} tokens × {formatMoney(Number(price.toPrecision(12)))} = {formatMoney(usage)}
        </p>
      )}
      {!isToday && usage > 0 && (
        <p className={styles.note}>Charged at the prices of the day of the call, for each kind of token.</p>
      )}
    </Section>
  );
}
