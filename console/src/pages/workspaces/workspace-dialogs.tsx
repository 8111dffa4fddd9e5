// Create, edit and delete a workspace.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { createWorkspace, deleteWorkspace, updateWorkspace, WORKSPACES } from '../../api/workspaces';
import type { Workspace, WorkspaceChange } from '../../api/workspaces';
import { showToast } from '../../components/feedback/toasts';
import { changedMembers } from '../../components/form/changes';
import { Form, SwitchField, TextAreaField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { ConfirmDialog, Dialog, SubmitButtons } from '../../components/overlay/dialog';

interface OpenProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

interface WorkspaceProps extends OpenProps {
  readonly workspace: Workspace;
}

export function CreateWorkspaceDialog({ isOpen, onClose }: OpenProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: createWorkspace,
    onSuccess: async ({ id, name }) => {
      onClose();
      showToast({ tone: 'good', text: `${name} was created.` });
      await client.invalidateQueries({ queryKey: WORKSPACES });
      await navigate({ to: '/workspaces/$id', params: { id } });
    },
  });
  const close = () => {
    create.reset();
    onClose();
  };
  return (
    <Dialog title="Create workspace" isOpen={isOpen} onClose={close}>
      <WorkspaceForm error={create.error} onSubmit={(body) => create.mutate(body)}>
        <SubmitButtons action="Create" isBusy={create.isPending} onCancel={close} />
      </WorkspaceForm>
    </Dialog>
  );
}

export function EditWorkspaceDialog({ workspace, isOpen, onClose }: WorkspaceProps) {
  const client = useQueryClient();
  const edit = useMutation({
    mutationFn: (body: Partial<WorkspaceChange>) => updateWorkspace(workspace.id, body),
    onSuccess: async ({ name }) => {
      onClose();
      showToast({ tone: 'good', text: `${name} was saved.` });
      await client.invalidateQueries({ queryKey: WORKSPACES });
    },
  });
  const close = () => {
    edit.reset();
    onClose();
  };
  return (
    <Dialog title="Edit workspace" isOpen={isOpen} onClose={close}>
      <WorkspaceForm
        workspace={workspace}
        error={edit.error}
        onSubmit={(change, initial) => edit.mutate(changedMembers(change, initial))}
      >
        <SubmitButtons action="Save" isBusy={edit.isPending} onCancel={close} />
      </WorkspaceForm>
    </Dialog>
  );
}

export function DeleteWorkspaceDialog({ workspace, isOpen, onClose }: WorkspaceProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteWorkspace(workspace.id),
    onSuccess: async () => {
      showToast({ tone: 'good', text: `${workspace.name} was deleted.` });
      await navigate({ to: '/workspaces', search: { workspace: undefined }, replace: true });
      await client.invalidateQueries({ queryKey: WORKSPACES });
    },
  });
  return (
    <ConfirmDialog
      title="Delete workspace"
      name={workspace.name}
      action="Delete"
      isOpen={isOpen}
      mutation={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Its destinations, budgets and provider keys are deleted. A workspace that still has keys is not deleted.
    </ConfirmDialog>
  );
}

function readChange(values: FormValues): WorkspaceChange {
  const name = values.text('name');
  return {
    name,
    slug: values.text('slug') || slugOf(name),
    description: values.textOrNull('description'),
    is_observability_broadcast_enabled: values.flag('is_observability_broadcast_enabled'),
  };
}

/** `Search team` as "search-team". */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50);

interface WorkspaceFormProps {
  /** Absent: a new one. */
  readonly workspace?: Workspace;
  readonly error: unknown;
  readonly onSubmit: (change: WorkspaceChange, initial: WorkspaceChange) => void;
  readonly children: ReactNode;
}

function WorkspaceForm({ error, onSubmit, children, ...props }: WorkspaceFormProps) {
  // It may be loaded again while the form is open, which keeps what it began with.
  const [workspace] = useState(props.workspace);
  return (
    <Form
      fields={['name', 'slug', 'description']}
      error={error}
      onSubmit={(values, initial) => onSubmit(readChange(values), readChange(initial))}
    >
      <TextField
        name="name"
        label="Name"
        defaultValue={workspace?.name}
        placeholder="Production"
        dir="auto"
      />
      <TextField
        name="slug"
        label="Slug"
        defaultValue={workspace?.slug}
        placeholder="production"
        spellCheck={false}
        hint="In paths of the API: lower-case letters, digits and hyphens. Empty: made of the name."
      />
      <TextAreaField
        name="description"
        label="Description"
        rows={2}
        defaultValue={workspace?.description ?? ''}
        dir="auto"
      />
      <SwitchField
        name="is_observability_broadcast_enabled"
        label="Deliver traces to the destinations"
        defaultChecked={workspace?.is_observability_broadcast_enabled ?? true}
      />
      {children}
    </Form>
  );
}
