// One workspace: its budgets with what they refuse now, and its members.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { workspaceQuery } from '../../api/workspaces';
import type { Workspace } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { useSession } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { Badge } from '../../components/display/badge';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Absent, Code, Time } from '../../components/display/values';
import { ObjectError, Placeholder } from '../../components/feedback/states';
import { ActionMenu } from '../../components/overlay/action-menu';
import { Budgets } from './budgets';
import { Members } from './members';
import { OwnKeyPolicySection } from './own-key-policy';
import { DeleteWorkspaceDialog, EditWorkspaceDialog } from './workspace-dialogs';

const route = getRouteApi('/app/management/workspaces/$id');

export function WorkspacePage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useQuery(workspaceQuery(id));
  if (data !== undefined) return <WorkspaceView key={id} workspace={data} />;
  return (
    <Page title="Workspace">
      {error ? (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="workspace"
          back={<Link to="/workspaces">All workspaces</Link>}
        />
      ) : (
        <Placeholder lines={12} />
      )}
    </Page>
  );
}

function WorkspaceView({ workspace }: { readonly workspace: Workspace }) {
  const { id, name, slug, description, is_observability_broadcast_enabled: isDelivering } = workspace;
  const session = useSession();
  const can = useCan();
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDialog(null);
  return (
    <Page
      title={name}
      description={description === null ? undefined : <bdi>{description}</bdi>}
      actions={
        <>
          <Link
            to="/keys"
            search={{ workspace: id === session.workspace_id ? undefined : id }}
            className={buttonClass()}
          >
            Its keys
          </Link>
          <Link
            to="/usage"
            search={{ workspace: id === session.workspace_id ? undefined : id }}
            className={buttonClass()}
          >
            Its usage
          </Link>
          {can('workspaces.change', id) && (
            <Button variant="primary" onClick={() => setDialog('edit')}>
              Edit
            </Button>
          )}
          {can('workspaces.create', null) && (
            <ActionMenu
              label={`Further actions for ${name}`}
              actions={[{ label: 'Delete', onSelect: () => setDialog('delete'), isDangerous: true }]}
            />
          )}
        </>
      }
    >
      {/* The question stays until the page is left: nothing is asked of a workspace that is being deleted. */}
      <Budgets workspace={workspace} isLive={dialog !== 'delete'} />
      <Members id={id} />
      <OwnKeyPolicySection
        workspaceId={id}
        canChange={can('own_key_policy.change', id)}
        isLive={dialog !== 'delete'}
      />
      <Section title="Details">
        <DescriptionList
          items={[
            ['Slug', <Code key="slug" text={slug} />],
            ['Id', <Code key="id" text={id} what="workspace id" />],
            [
              'Deliveries',
              isDelivering ? (
                <Badge key="on" tone="good">
                  On
                </Badge>
              ) : (
                <Badge key="off" tone="neutral">
                  Off
                </Badge>
              ),
            ],
            ['Created by', workspace.created_by ?? <Absent key="by" />],
            ['Created', <Time key="created" at={workspace.created_at} />],
            ['Last changed', <Time key="updated" at={workspace.updated_at} />],
          ]}
        />
      </Section>
      <EditWorkspaceDialog workspace={workspace} isOpen={dialog === 'edit'} onClose={close} />
      <DeleteWorkspaceDialog workspace={workspace} isOpen={dialog === 'delete'} onClose={close} />
    </Page>
  );
}
