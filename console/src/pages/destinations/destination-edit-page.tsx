// The pages that create and change a destination.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { findKind } from '../../api/destination-kinds';
import type { DestinationKind } from '../../api/destination-kinds';
import {
  createDestination,
  DESTINATIONS,
  editedDestinationQuery,
  updateDestination,
} from '../../api/destinations';
import type { Destination, DestinationSettings } from '../../api/destinations';
import { useWorkspaceId } from '../../app/workspace';
import { NeedsRight } from '../person/needs-right';
import { buttonClass } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import { changedSettings } from '../../components/form/changes';
import { showToast } from '../../components/feedback/toasts';
import { DestinationForm } from './destination-form';
import { KindPicker } from './kind-picker';

const newRoute = getRouteApi('/app/management/destinations/new');
const editRoute = getRouteApi('/app/management/destinations/$id/edit');

export function NewDestinationPage() {
  const kind = findKind(newRoute.useSearch().kind);
  const workspaceId = useWorkspaceId();
  return (
    <NeedsRight right="destinations.change" workspaceId={workspaceId}>
      {kind === undefined ? (
        <Page title="Add a destination" description="Choose the platform that receives your traces.">
          <KindPicker />
        </Page>
      ) : (
        <Page
          key={kind.type}
          title={`Add ${kind.name}`}
          description={<Link to="/destinations/new">Choose another platform</Link>}
        >
          <NewDestination kind={kind} />
        </Page>
      )}
    </NeedsRight>
  );
}

function NewDestination({ kind }: { readonly kind: DestinationKind }) {
  const workspaceId = useWorkspaceId();
  const client = useQueryClient();
  const navigate = newRoute.useNavigate();
  const create = useMutation({
    mutationFn: (settings: DestinationSettings) => createDestination(kind.type, workspaceId, settings),
    onSuccess: async ({ id, name }) => {
      await client.invalidateQueries({ queryKey: DESTINATIONS });
      showToast({ tone: 'good', text: `${name} receives the traces of calls from now on.` });
      await navigate({ to: '/destinations/$id', params: { id }, ignoreBlocker: true });
    },
  });
  return (
    <DestinationForm
      kind={kind}
      workspaceId={workspaceId}
      error={create.error}
      isBusy={create.isPending}
      action="Create destination"
      onSubmit={(settings) => create.mutate(settings)}
      cancel={
        <Link to="/destinations" ignoreBlocker className={buttonClass('ghost')}>
          Cancel
        </Link>
      }
    />
  );
}

export function EditDestinationPage() {
  const { id } = editRoute.useParams();
  const { data, error, refetch } = useQuery(editedDestinationQuery(id));
  const kind = findKind(data?.type);
  return (
    <NeedsRight right="destinations.change" workspaceId={data?.workspace_id}>
      <Page title={data === undefined ? 'Edit destination' : `Edit ${data.name ?? 'destination'}`}>
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : data === undefined || kind === undefined ? (
          <Placeholder lines={12} />
        ) : (
          <EditDestination key={data.id} kind={kind} destination={data} />
        )}
      </Page>
    </NeedsRight>
  );
}

function EditDestination({
  kind,
  destination,
}: {
  readonly kind: DestinationKind;
  readonly destination: Destination;
}) {
  const { id } = destination;
  const client = useQueryClient();
  const navigate = editRoute.useNavigate();
  const update = useMutation({
    mutationFn: (change: Partial<DestinationSettings>) => updateDestination(id, change),
    onSuccess: async ({ name }) => {
      await client.invalidateQueries({ queryKey: DESTINATIONS });
      showToast({ tone: 'good', text: `${name} was saved.` });
      await navigate({ to: '/destinations/$id', params: { id }, ignoreBlocker: true });
    },
  });
  return (
    <DestinationForm
      kind={kind}
      destination={destination}
      workspaceId={destination.workspace_id}
      error={update.error}
      isBusy={update.isPending}
      action="Save"
      onSubmit={(settings, initial) => update.mutate(changedSettings(settings, initial))}
      cancel={
        <Link to="/destinations/$id" params={{ id }} ignoreBlocker className={buttonClass('ghost')}>
          Cancel
        </Link>
      }
    />
  );
}
