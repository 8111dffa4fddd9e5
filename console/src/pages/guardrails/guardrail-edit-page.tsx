// The pages that create and change a guardrail.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError } from '../../api/client';
import { createGuardrail, guardrailQuery, GUARDRAILS, updateGuardrail } from '../../api/guardrails';
import type { Guardrail, GuardrailChange } from '../../api/guardrails';
import { workspacesQuery } from '../../api/workspaces';
import { useWorkspaceId } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { changedMembers } from '../../components/form/changes';
import { NeedsRight } from '../person/needs-right';
import { GuardrailForm } from './guardrail-form';

const newRoute = getRouteApi('/app/management/guardrails/new');
const editRoute = getRouteApi('/app/management/guardrails/$id/edit');

const toList = (
  <Link to="/guardrails" ignoreBlocker className={buttonClass('ghost')}>
    Cancel
  </Link>
);

export function NewGuardrailPage() {
  const workspaceId = useWorkspaceId();
  const client = useQueryClient();
  const navigate = newRoute.useNavigate();
  const create = useMutation({
    mutationFn: (body: GuardrailChange) => createGuardrail(workspaceId, body),
    onSuccess: async ({ id, name }) => {
      await client.invalidateQueries({ queryKey: GUARDRAILS });
      showToast({ tone: 'good', text: `${name} was created. It governs nothing until it is assigned.` });
      await navigate({ to: '/guardrails/$id', params: { id }, ignoreBlocker: true });
    },
  });
  return (
    <NeedsRight right="guardrails.change" workspaceId={workspaceId}>
      <Page title="Add a guardrail" description="It governs nothing until it is assigned to keys or members.">
        <GuardrailForm
          error={create.error}
          isBusy={create.isPending}
          action="Create guardrail"
          onSubmit={(body) => create.mutate(body)}
          cancel={toList}
        />
      </Page>
    </NeedsRight>
  );
}

/** The default guardrail of a workspace has an id before it exists: its first change creates it. */
export function EditGuardrailPage() {
  const { id } = editRoute.useParams();
  const { data: workspaces } = useQuery(workspacesQuery);
  const isDefault = workspaces?.some(({ default_guardrail_id: own }) => own === id);
  const { data, error, refetch } = useQuery({ ...guardrailQuery(id), retry: false });
  const isMissing = error instanceof ApiError && error.status === 404;
  const title = isDefault === true ? 'Workspace default' : `Edit ${data?.name ?? 'guardrail'}`;
  return (
    <NeedsRight
      right={isDefault === true ? 'default_guardrail.change' : 'guardrails.change'}
      workspaceId={data?.workspace_id}
    >
      <Page
        title={title}
        {...(isDefault === true && { description: 'Governs every key of the workspace, and new ones.' })}
      >
        {isDefault === undefined || (data === undefined && !error) ? (
          <Placeholder lines={12} />
        ) : data !== undefined || (isMissing && isDefault) ? (
          <EditGuardrail key={id} id={id} isDefault={isDefault} {...(data && { guardrail: data })} />
        ) : (
          <ObjectError
            error={error}
            onRetry={() => void refetch()}
            what="guardrail"
            back={<Link to="/guardrails">All guardrails</Link>}
          />
        )}
      </Page>
    </NeedsRight>
  );
}

interface EditGuardrailProps {
  readonly id: string;
  readonly isDefault: boolean;
  readonly guardrail?: Guardrail;
}

function EditGuardrail({ id, isDefault, guardrail }: EditGuardrailProps) {
  const client = useQueryClient();
  const navigate = editRoute.useNavigate();
  const update = useMutation({
    mutationFn: (change: GuardrailChange) => updateGuardrail(id, change),
    onSuccess: async ({ name }) => {
      await client.invalidateQueries({ queryKey: GUARDRAILS });
      showToast({ tone: 'good', text: `${name} was saved. It is in force within two seconds.` });
      await navigate({ to: '/guardrails/$id', params: { id }, ignoreBlocker: true });
    },
  });
  return (
    <GuardrailForm
      {...(guardrail && { guardrail })}
      isDefault={isDefault}
      error={update.error}
      isBusy={update.isPending}
      action="Save"
      onSubmit={(body, initial) =>
        update.mutate(guardrail === undefined ? body : changedMembers<GuardrailChange>(body, initial))
      }
      cancel={
        guardrail === undefined ? (
          toList
        ) : (
          <Link to="/guardrails/$id" params={{ id }} ignoreBlocker className={buttonClass('ghost')}>
            Cancel
          </Link>
        )
      }
    />
  );
}
