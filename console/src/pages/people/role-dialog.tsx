// The role of a person for the whole account, given by hand.
import { useMutation } from '@tanstack/react-query';
import { updatePerson } from '../../api/people';
import type { Person } from '../../api/people';
import type { AccountRole } from '../../app/granted-roles';
import { Code } from '../../components/display/values';
import { Notice } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { capitalise } from '../../format';
import { nameOfPerson } from './person-words';

const NONE = 'none';

const MEANINGS: Readonly<Record<AccountRole, string>> = {
  owner: 'everything, management keys among it',
  admin: 'everything but management keys and owners',
  developer: 'own keys and their calls',
  viewer: 'reads, and sees no contents',
};

interface RoleDialogProps {
  readonly person: Person;
  /** Those that the reader may give. */
  readonly roles: readonly AccountRole[];
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}

export function RoleDialog({ person, roles, onClose, onSaved }: RoleDialogProps) {
  const { hand, group } = person.account_role_sources;
  const change = useMutation({
    mutationFn: (role: AccountRole | null) => updatePerson(person.id, { account_role: role }),
    onSuccess: async (after) => {
      onClose();
      const role = after.account_role ?? 'no role for the account';
      showToast({
        tone: 'good',
        text: `${nameOfPerson(after)} has ${role}. It is in force within two seconds.`,
      });
      await onSaved();
    },
  });
  return (
    <Dialog title="Account role" description={<bdi>{nameOfPerson(person)}</bdi>} isOpen onClose={onClose}>
      <Form
        fields={['account_role']}
        error={change.error}
        onSubmit={(values) => {
          const chosen = values.text('account_role');
          change.mutate(roles.find((role) => role === chosen) ?? null);
        }}
      >
        {group !== null && (
          <Notice tone="info">
            A group of the identity provider gives the role {group}. It stays, and the higher role counts.
          </Notice>
        )}
        <SelectField
          name="account_role"
          label="Role given by hand"
          defaultValue={hand ?? NONE}
          choices={[
            { value: NONE, label: 'None' },
            ...roles.map((role) => ({ value: role, label: `${capitalise(role)}: ${MEANINGS[role]}` })),
          ]}
          hint="For all workspaces of the account."
        />
        <p>
          A role in one workspace is given on the page of the workspace, to this member:{' '}
          <Code text={person.id} what="user id" />
        </p>
        <SubmitButtons action="Save" isBusy={change.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
