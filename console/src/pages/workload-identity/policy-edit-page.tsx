// The pages that create and change a federation policy.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { createPolicy, editedPolicyQuery, FEDERATION_POLICIES, updatePolicy } from '../../api/federation';
import type { FederationPolicy, FederationPolicyChange, NewFederationPolicy } from '../../api/federation';
import { oneOf } from '../../app/search';
import { useWorkspaceId } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { Page } from '../../components/display/section';
import { ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { changedMembers } from '../../components/form/changes';
import { PLATFORM_IDS, platformOf, PLATFORMS } from './platforms';
import { PolicyForm } from './policy-form';

const newRoute = getRouteApi('/app/management/workload-identity/new');
const editRoute = getRouteApi('/app/management/workload-identity/$id/edit');

export function NewPolicyPage() {
  const platform = oneOf(PLATFORM_IDS, newRoute.useSearch().platform) ?? 'github';
  const workspaceId = useWorkspaceId();
  const client = useQueryClient();
  const navigate = newRoute.useNavigate();
  const create = useMutation({
    mutationFn: (settings: NewFederationPolicy | Error) => {
      if (settings instanceof Error) throw settings;
      return createPolicy(settings);
    },
    onSuccess: async ({ id, name }) => {
      await client.invalidateQueries({ queryKey: FEDERATION_POLICIES });
      showToast({ tone: 'good', text: `${name} was created. Its commands are for the job.` });
      await navigate({ to: '/workload-identity/$id', params: { id }, ignoreBlocker: true });
    },
  });
  return (
    <Page
      title="Add a policy"
      description="It names one job of one issuer, and the key whose calls the job makes."
      actions={
        <ChoiceLinks label="Platform of the job">
          {PLATFORM_IDS.map((id) => (
            <Link
              key={id}
              to="."
              search={(former) => ({ ...former, platform: id === 'github' ? undefined : id })}
              aria-current={id === platform || undefined}
            >
              {PLATFORMS[id].name}
            </Link>
          ))}
        </ChoiceLinks>
      }
    >
      <PolicyForm
        // The fields of another platform begin with its own values.
        key={platform}
        platform={platform}
        workspaceId={workspaceId}
        error={create.error}
        isBusy={create.isPending}
        action="Create policy"
        onSubmit={(settings) => create.mutate(settings)}
        cancel={
          <Link to="/workload-identity" ignoreBlocker className={buttonClass('ghost')}>
            Cancel
          </Link>
        }
      />
    </Page>
  );
}

export function EditPolicyPage() {
  const { id } = editRoute.useParams();
  const { data, error, refetch } = useQuery(editedPolicyQuery(id));
  return (
    <Page
      title={`Edit ${data?.name ?? 'policy'}`}
      description="A change of anything but the name ends the access tokens of the policy."
    >
      {data !== undefined ? (
        <EditPolicy key={id} policy={data} />
      ) : error ? (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="policy"
          back={<Link to="/workload-identity">All policies</Link>}
        />
      ) : (
        <Placeholder lines={12} />
      )}
    </Page>
  );
}

function EditPolicy({ policy }: { readonly policy: FederationPolicy }) {
  const { id } = policy;
  const client = useQueryClient();
  const navigate = editRoute.useNavigate();
  const update = useMutation({
    mutationFn: (change: FederationPolicyChange | Error) => {
      if (change instanceof Error) throw change;
      return updatePolicy(id, change);
    },
    onSuccess: async ({ name }) => {
      await client.invalidateQueries({ queryKey: FEDERATION_POLICIES });
      showToast({ tone: 'good', text: `${name} was saved.` });
      await navigate({ to: '/workload-identity/$id', params: { id }, ignoreBlocker: true });
    },
  });
  return (
    <PolicyForm
      policy={policy}
      platform={platformOf(policy)}
      workspaceId={policy.workspace_id}
      error={update.error}
      isBusy={update.isPending}
      action="Save"
      onSubmit={(settings, initial) =>
        update.mutate(
          settings instanceof Error || initial instanceof Error
            ? settings
            : changedMembers<NewFederationPolicy>(settings, initial),
        )
      }
      cancel={
        <Link to="/workload-identity/$id" params={{ id }} ignoreBlocker className={buttonClass('ghost')}>
          Cancel
        </Link>
      }
    />
  );
}
