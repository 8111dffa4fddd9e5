// The refused calls of a workspace: how many by reason and by key, and the newest ones.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { refusalsQuery } from '../../api/refusals';
import { useWorkspaceId } from '../../app/workspace';
import { Page, Section } from '../../components/display/section';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { RangeLinks } from '../overview/range-links';
import { RefusedKeys } from './refused-keys';
import { RefusalTable } from './refusal-table';

const route = getRouteApi('/app/management/refusals');

export function RefusalsPage() {
  const workspaceId = useWorkspaceId();
  const { range = 'day', request } = route.useSearch();
  const { data, error, refetch } = useQuery(refusalsQuery({ workspace_id: workspaceId }));
  const listed = request === undefined ? data : data?.filter(({ request_id: id }) => id === request);
  return (
    <Page
      title="Refused calls"
      description="Calls of keys that were refused before they reached a model. They cost nothing and are no generations."
      actions={<RangeLinks range={range} />}
    >
      <RefusedKeys workspaceId={workspaceId} range={range} />
      <Section
        title="Newest refused calls"
        description={
          request === undefined
            ? 'Of the newest 100 of the account, those of this workspace, in any range.'
            : 'With one request id, of the newest 100 of the account.'
        }
        actions={
          request !== undefined && (
            <Link to="." search={(former) => ({ ...former, request: undefined })}>
              All of this workspace
            </Link>
          )
        }
        isFlush
      >
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <RefusalTable
            refusals={listed}
            hasKey
            empty={
              <EmptyState title="No refused call is listed">
                A refused call appears here about two seconds later.
              </EmptyState>
            }
          />
        )}
      </Section>
    </Page>
  );
}
