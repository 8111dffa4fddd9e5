// A group that gives a role, in the account or in one workspace.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { createGroupMapping } from '../../api/sign-in';
import type { NewGroupMapping, SignInProvider } from '../../api/sign-in';
import type { Workspace } from '../../api/workspaces';
import type { AccountRole } from '../../app/granted-roles';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField, TextField } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { capitalise } from '../../format';

const WORKSPACE_ROLES = ['admin', 'member', 'viewer'] as const;
const ACCOUNT = 'account';

interface GroupMappingDialogProps {
  readonly providers: readonly SignInProvider[];
  readonly workspaces: readonly Workspace[];
  /** Those that the reader may give for the whole account. */
  readonly accountRoles: readonly AccountRole[];
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}

export function GroupMappingDialog(props: GroupMappingDialogProps) {
  const { providers, workspaces, accountRoles, onClose, onSaved } = props;
  const [where, setWhere] = useState(ACCOUNT);
  const [first] = providers;
  const add = useMutation({
    mutationFn: createGroupMapping,
    onSuccess: async ({ group }) => {
      onClose();
      showToast({ tone: 'good', text: `${group} gives its role from the next sign-in on.` });
      await onSaved();
    },
  });
  const roles: readonly NewGroupMapping['role'][] = where === ACCOUNT ? accountRoles : WORKSPACE_ROLES;
  return (
    <Dialog title="Add group" isOpen onClose={onClose}>
      <Form
        fields={['issuer', 'group', 'workspace_id', 'role']}
        error={add.error}
        onSubmit={(values) =>
          add.mutate({
            issuer: providers.length > 1 ? values.text('issuer') : (first?.issuer ?? ''),
            group: values.text('group'),
            workspace_id: where === ACCOUNT ? null : where,
            role: roles.find((role) => role === values.text('role')) ?? 'viewer',
          })
        }
      >
        {providers.length > 1 && (
          <SelectField
            name="issuer"
            label="Identity provider"
            choices={providers.map(({ issuer, name }) => ({ value: issuer, label: name }))}
          />
        )}
        <TextField
          name="group"
          label="Group"
          placeholder="platform-team"
          spellCheck={false}
          autoFocus
          hint="Its name or id in the groups claim, exactly as the provider sends it."
        />
        <SelectField
          name="workspace_id"
          label="In"
          value={where}
          onChange={({ target }) => setWhere(target.value)}
          choices={[
            { value: ACCOUNT, label: 'The whole account' },
            ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <SelectField
          key={where === ACCOUNT ? ACCOUNT : 'workspace'}
          name="role"
          label="Role"
          defaultValue={roles.at(-1)}
          choices={roles.map((role) => ({ value: role, label: capitalise(role) }))}
        />
        <SubmitButtons action="Add" isBusy={add.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
