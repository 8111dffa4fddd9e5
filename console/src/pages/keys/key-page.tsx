// One key: its limits, its usage, and what can be done with it.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { keyQuery } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { useObjectWorkspace } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { CoveringAlerts } from '../../components/data/covering-alerts';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Code, Money, Time } from '../../components/display/values';
import { ObjectError, Placeholder } from '../../components/feedback/states';
import { KeyActionDialog, KeyMenu } from './key-actions';
import type { KeyAction } from './key-actions';
import { windowName } from './key-limits';
import { FirstLimit, KeyBadges, KeySpend, LastUsed, LimitReset } from './key-state';
import { KeyCreator } from './key-creator';
import { NewestRefusals, RefusedNotice } from './key-refusals';
import { KeyUsage } from './key-usage';

const route = getRouteApi('/app/management/keys/$hash');
const REFRESH_MS = 15_000;

export function KeyPage() {
  const { hash } = route.useParams();
  const { data: key, error, refetch } = useQuery({ ...keyQuery(hash), refetchInterval: REFRESH_MS });
  if (key === undefined) {
    return (
      <Page title="Key">
        {error === null ? (
          <Placeholder lines={6} />
        ) : (
          <ObjectError
            error={error}
            onRetry={() => void refetch()}
            what="key"
            back={<Link to="/keys">All keys</Link>}
          />
        )}
      </Page>
    );
  }
  return <KeyView key={hash} apiKey={key} />;
}

function KeyView({ apiKey: key }: { readonly apiKey: ApiKey }) {
  const navigate = route.useNavigate();
  const [action, setAction] = useState<KeyAction | null>(null);
  useObjectWorkspace(key.workspace_id);
  return (
    <Page
      title={key.name}
      description={
        <>
          <Code text={key.label} /> <KeyBadges apiKey={key} />
        </>
      }
      actions={
        <>
          <Link
            to="/generations"
            search={{ key: key.hash, workspace: key.workspace_id }}
            className={buttonClass('secondary')}
          >
            View generations
          </Link>
          <KeyMenu apiKey={key} onChoose={setAction} />
        </>
      }
    >
      <RefusedNotice apiKey={key} />
      <StatTiles>
        <StatTile label="Spent today" value={<Money usd={key.usage_daily} />} />
        <StatTile label="Spent this week" value={<Money usd={key.usage_weekly} />} />
        <StatTile label="Spent this month" value={<Money usd={key.usage_monthly} />} />
        <StatTile label="Spent in total" value={<Money usd={key.usage} />} />
      </StatTiles>
      <Section title="Limits">
        <DescriptionList items={limitsOf(key)} />
      </Section>
      <NewestRefusals apiKey={key} />
      <KeyUsage hash={key.hash} />
      <Section title="Details">
        <DescriptionList items={detailsOf(key)} />
      </Section>
      <KeyActionDialog
        action={action}
        onClose={() => setAction(null)}
        onDeleted={() => navigate({ to: '/keys', replace: true })}
      />
    </Page>
  );
}

function limitsOf(key: ApiKey) {
  return [
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
    ['Spend', <KeySpend key="spend" apiKey={key} name={key.name} />],
    ['Stops first', <FirstLimit key="first" apiKey={key} />],
    ['Resets', <LimitReset key="reset" apiKey={key} />],
    ['Alerts', <CoveringAlerts key="alerts" cover="keys" workspaceId={key.workspace_id} />],
    [
      'Own provider keys',
      key.include_byok_in_limit ? 'Count towards the limit' : 'Do not count towards the limit',
    ],
  ] as const;
}

function detailsOf(key: ApiKey) {
  return [
    ['Hash', <Code key="hash" text={key.hash} what="hash" />],
    ['Last used', <LastUsed key="used" apiKey={key} />],
    ['Created', <Time key="created" at={key.created_at} />],
    ['Created by', <KeyCreator key="creator" apiKey={key} />],
    ['Changed', <Time key="changed" at={key.updated_at} absent="Never" />],
    ['Expires', <Time key="expires" at={key.expires_at} absent="Never" />],
    ['Embedding cache', key.embedding_cache ? 'On' : 'Off'],
  ] as const;
}
