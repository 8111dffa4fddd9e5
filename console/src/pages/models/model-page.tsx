// One model: its endpoints with prices and health.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { catalogueModelQuery, pathOf } from '../../api/catalogue';
import type { CatalogueModel } from '../../api/catalogue';
import { modelEndpointsQuery } from '../../api/providers';
import type { ModelEndpoint } from '../../api/providers';
import { useSession } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Code } from '../../components/display/values';
import { ErrorState, Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { formatUtcDay } from '../../format';
import { NOT_AN_OPERATOR, OF_FILE } from './catalogue/change-problem';
import { KIND_WORDS } from './catalogue/documents';
import { History } from './catalogue/history';
import { ModelActions } from './catalogue/model-actions';
import { Prices } from './catalogue/prices';
import { SourceBadge } from './catalogue/source-badge';
import { Targets } from './catalogue/targets';
import { Endpoints } from './endpoints';
import { MissingNames } from './missing-names';
import styles from './models.module.css';

const route = getRouteApi('/app/management/models/$author/$slug');
export function ModelPage() {
  const { author, slug } = route.useParams();
  const path = `${author}/${slug}`;
  const isAlias = path.startsWith('~');
  const endpoints = useQuery({ ...modelEndpointsQuery(author, slug), enabled: !isAlias });
  const { data } = endpoints;
  // The address may have another name of the model. A moving alias has a row of its own.
  const id = data?.id ?? path;
  const isSettled = isAlias || data !== undefined || endpoints.error !== null;
  const catalogue = useQuery({ ...catalogueModelQuery(id), enabled: isSettled, retry: false });
  const entry = catalogue.data;
  if (data === undefined && entry === undefined && isSettled && catalogue.error !== null)
    return (
      <Page title={path}>
        <ObjectError
          error={catalogue.error}
          onRetry={() => void Promise.all([endpoints.refetch(), catalogue.refetch()])}
          what="model"
          back={<Link to="/models">All models</Link>}
        />
      </Page>
    );
  return (
    <Page
      title={entry?.name ?? data?.name ?? path}
      description={data?.description ?? textOf(entry?.model['description'])}
      actions={
        <>
          <Link to="/generations" search={{ model: id }} className={buttonClass()}>
            View generations
          </Link>
          {entry?.can_change && <ModelActions entry={entry} />}
        </>
      }
    >
      {entry && <ModelNotices entry={entry} />}
      {entry && <MissingNames entry={entry} />}
      {!isAlias && entry?.disabled !== true && <Endpoints id={id} endpoints={endpoints} />}
      {entry === undefined && catalogue.error === null && (
        <Section title="Prices">
          <Placeholder />
        </Section>
      )}
      {entry && entry.kind !== 'moving_aliases' && <Prices entry={entry} canChange={entry.can_change} />}
      {entry?.kind === 'moving_aliases' && <Targets entry={entry} canChange={entry.can_change} />}
      <Section title="Details">
        {data === undefined && entry === undefined ? (
          <Placeholder />
        ) : (
          <DescriptionList
            items={[
              ['Id', <Code key="id" text={id} what="model id" />],
              ...(entry === undefined ? [] : detailsOf(entry)),
              ...(data === undefined
                ? []
                : ([
                    ['Takes', data.architecture.input_modalities.join(', ')],
                    ['Answers with', data.architecture.output_modalities.join(', ')],
                  ] as const)),
            ]}
          />
        )}
      </Section>
      {data !== undefined && <Parameters names={parametersOf(data.endpoints)} />}
      {entry && <History entry={entry} canChange={entry.can_change} />}
      {catalogue.error !== null && entry === undefined && data !== undefined && (
        <Section title="Prices and history">
          <ErrorState error={catalogue.error} onRetry={() => void catalogue.refetch()} />
        </Section>
      )}
    </Page>
  );
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const WEEK = 7;
const DAY_MS = 86_400_000;
const utcDayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

function detailsOf({ kind, layers, model }: CatalogueModel): (readonly [string, ReactNode])[] {
  const [expiry, successor] = [textOf(model['expires_on']), textOf(model['successor'])];
  return [
    ['Kind', KIND_WORDS[kind]],
    ['Source', <SourceBadge key="source" layers={layers} />],
    ...(expiry === undefined
      ? []
      : [
          [
            'May be gone from',
            <span key="expiry">
              {formatUtcDay(expiry)}{' '}
              <Link to="/usage" search={{ from: utcDayAgo(WEEK), to: utcDayAgo(0), by: 'model', and: 'key' }}>
                Keys of the last 7 days
              </Link>
            </span>,
          ] as const,
        ]),
    ...(successor === undefined
      ? []
      : [
          [
            'Successor',
            <Link key="successor" to="/models/$author/$slug" params={pathOf(successor)}>
              {successor}
            </Link>,
          ] as const,
        ]),
  ];
}

function ModelNotices({ entry }: { readonly entry: CatalogueModel }) {
  const { can_change_catalogue: isOperator } = useSession();
  return (
    <>
      {entry.disabled && (
        <Notice tone="warning">
          The operator has disabled this model: calls answer 404, and no list for callers shows it.
        </Notice>
      )}
      {entry.problem !== null && (
        <Notice tone="bad">
          This process cannot read revision {entry.version}, and keeps the model as it was before:{' '}
          {entry.problem}
        </Notice>
      )}
      {!entry.can_change && <Notice tone="info">{isOperator ? OF_FILE : NOT_AN_OPERATOR}</Notice>}
    </>
  );
}

/** Parameters that any endpoint supports. Routing leaves out endpoints that lack a parameter that a call needs. */
function parametersOf(endpoints: readonly ModelEndpoint[]): readonly string[] {
  return [...new Set(endpoints.flatMap(({ supported_parameters: names }) => names))].toSorted();
}

function Parameters({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Section title="Parameters" description="Members of a call that an endpoint of this model knows.">
      <ul className={styles.parameters}>
        {names.map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </Section>
  );
}
