// For a session of an inference key: its own limits and usage.
import { useQuery } from '@tanstack/react-query';
import { currentKeyQuery } from '../../api/keys';
import type { CurrentKey } from '../../api/keys';
import { exampleModel, modelsQuery } from '../../api/models';
import { useSession } from '../../app/workspace';
import { CodeSamples } from '../../components/data/code-samples';
import { embeddingSamples } from '../../components/data/samples';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Code, Money, Name, Time } from '../../components/display/values';
import { ErrorState, Notice } from '../../components/feedback/states';
import { formatCount, formatCountOf } from '../../format';
import { windowName } from '../keys/key-limits';
import { FirstLimit, KeySpend, LimitReset } from '../keys/key-state';
import { REASONS } from '../refusals/refusal-words';
import { OwnUsageTable } from './own-usage';

const REFRESH_MS = 15_000;

export function MyKeyPage() {
  const session = useSession();
  // People have a page of their own keys.
  const keyName = session.kind === 'person' ? '' : session.key_name;
  const { data: key, error, refetch } = useQuery({ ...currentKeyQuery, refetchInterval: REFRESH_MS });
  const { data: models } = useQuery(modelsQuery);
  if (error && key === undefined) {
    return (
      <Page title="My key">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  const spent = (member: 'usage_daily' | 'usage_weekly' | 'usage_monthly' | 'usage') =>
    key === undefined ? undefined : <Money usd={key[member]} />;
  return (
    <Page
      title="My key"
      description={
        <>
          <Name text={keyName} /> in <Name text={session.workspace_name} />
        </>
      }
    >
      <StatTiles>
        <StatTile label="Spent today" value={spent('usage_daily')} detail="Since 00:00 UTC" />
        <StatTile label="Spent this week" value={spent('usage_weekly')} detail="Since Monday, UTC" />
        <StatTile label="Spent this month" value={spent('usage_monthly')} detail="Since the 1st, UTC" />
        <StatTile label="Spent in total" value={spent('usage')} detail="Without own provider keys" />
      </StatTiles>
      {key && key.refusals !== null && <OwnRefusals refusals={key.refusals} />}
      {key && (
        <Section title="Limits">
          <DescriptionList items={limitsOf(key, keyName)} />
        </Section>
      )}
      <OwnUsageTable />
      <Section
        title="Use this key"
        description="The console does not know the key itself: put it where YOUR_KEY stands."
      >
        <CodeSamples
          label="Use this key"
          samples={embeddingSamples({ key: 'YOUR_KEY', model: exampleModel(models), input: 'Hello, world' })}
        />
      </Section>
    </Page>
  );
}

function OwnRefusals({ refusals }: { readonly refusals: NonNullable<CurrentKey['refusals']> }) {
  const { last_hour: hour, last_day: day, last_at: at, last_reason: reason } = refusals;
  const { name, advice } = REASONS[reason];
  return (
    <Notice tone={hour > 0 ? 'bad' : 'warning'}>
      <p>
        <strong>{formatCountOf(day, 'call')} refused in 24 hours</strong>, {formatCount(hour)} of them in the
        last hour. The newest <Time at={at} isRelative isPast />: {name}.
      </p>
      <p>{advice} Limits are changed by those who manage the key.</p>
    </Notice>
  );
}

function limitsOf(key: CurrentKey, name: string) {
  return [
    ['Label', <Code key="label" text={key.label} />],
    [
      'Own limit',
      key.limit === null ? (
        'None'
      ) : (
        <span key="limit">
          <Money usd={key.limit} /> {windowName(key.limit_reset)}
        </span>
      ),
    ],
    ['Spend', <KeySpend key="spend" apiKey={key} name={name} />],
    ['Stops first', <FirstLimit key="first" apiKey={key} />],
    ['Resets', <LimitReset key="reset" apiKey={key} />],
    ['Expires', <Time key="expires" at={key.expires_at} absent="Never" />],
  ] as const;
}
