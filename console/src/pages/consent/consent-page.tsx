// A program asks for a key (docs/contract.md#sign-in-from-a-command-line): the reader sees its terms, and consents by a click.
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { createAuthCode } from '../../api/auth-codes';
import type { NewAuthCode } from '../../api/auth-codes';
import { ApiError } from '../../api/client';
import { isoTimeOfLocal, localMinute } from '../../api/iso-time';
import { ownKeyPolicyQuery } from '../../api/own-keys';
import { workspacesQuery } from '../../api/workspaces';
import type { Workspace } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { useSession, useWorkspaceId } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { LAST_MINUTE } from '../../components/form/draft-input';
import { FieldRow, Form, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { KEY_RESETS } from '../keys/key-resets';
import { expiryHint, limitHint, limitPlaceholder, namedBound } from '../my-keys/own-key-bounds';
import { addParameters, readConsentRequest } from './consent-request';
import type { ConsentRequest } from './consent-request';
import styles from './consent.module.css';

const route = getRouteApi('/app/auth');

const DEFAULT_LABEL = 'Command line';
const DEFAULT_DAYS = 90;
const DAY_MS = 86_400_000;
const FIELDS = ['key_label', 'workspace_id', 'limit', 'usage_limit_type', 'expires_at'];

export function ConsentPage() {
  const { kind } = useSession();
  const can = useCan();
  const request = readConsentRequest(route.useSearch());
  const {
    data: workspaces,
    error,
    refetch,
  } = useQuery({ ...workspacesQuery, enabled: kind !== 'inference' });
  return (
    <Page title="A program asks for a key">
      <div className={styles.column}>
        {typeof request === 'string' ? (
          <Refusal reason={request} />
        ) : kind === 'inference' ? (
          <Section title="This session cannot make keys">
            <EmptyState title="You are signed in with an API key">
              It calls models. Sign out, and open the address of the program again: keys are made by those who
              manage them.
            </EmptyState>
          </Section>
        ) : workspaces !== undefined ? (
          <Consent request={request} workspaces={workspaces.filter(({ id }) => can('keys.change', id))} />
        ) : error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <Placeholder lines={12} />
        )}
      </div>
    </Page>
  );
}

function Refusal({ reason }: { readonly reason: string }) {
  return (
    <Section title="This request is refused">
      <div className={styles.lines}>
        <Notice tone="bad">{reason}</Notice>
        <p>
          No key was made, and the program has no answer. Its documentation, or its author, knows how it asks
          for a key.
        </p>
        <div>
          <Link to="/" className={buttonClass()}>
            To the console
          </Link>
        </div>
      </div>
    </Section>
  );
}

interface ConsentProps {
  readonly request: ConsentRequest;
  readonly workspaces: readonly Workspace[];
}

function Consent({ request, workspaces }: ConsentProps) {
  const { callback, host, isLoopback, challenge } = request;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { kind, account_name: account } = useSession();
  const can = useCan();
  const ofPage = useWorkspaceId();
  const [chosen, setChosen] = useState(ofPage);
  const workspace = workspaces.find(({ id }) => id === chosen) ?? workspaces[0];
  const workspaceId = workspace?.id ?? '';
  // A developer makes keys within the bounds of the workspace.
  const isBounded = !can('keys.change', workspaceId, null);
  const { data: policy } = useQuery({
    ...ownKeyPolicyQuery(workspaceId),
    enabled: isBounded && workspace !== undefined,
  });
  const state: Readonly<Record<string, string>> = search.state === undefined ? {} : { state: search.state };
  const allow = useMutation({
    mutationFn: (values: FormValues) =>
      createAuthCode({
        ...readTerms(values, isBounded),
        callback_url: callback,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }),
    onSuccess: (code) => location.assign(addParameters(callback, { code, ...state })),
  });
  const deny = () => {
    // A program on this machine would wait for the end of its time.
    if (isLoopback) location.assign(addParameters(callback, { error: 'access_denied', ...state }));
    else void navigate({ to: '/' });
  };
  if (workspace === undefined) return <Refusal reason="Your role makes no keys in any workspace." />;
  const refusal = refusalOf(allow.error, host);
  if (refusal !== null) return <Refusal reason={refusal} />;
  if (allow.isSuccess)
    return (
      <Section title="The program has a code for its key">
        <EmptyState title={`The code was sent to ${host}`}>
          It works once, within five minutes. You can close this page.
        </EmptyState>
      </Section>
    );
  const areKeysOff = isBounded && policy?.enabled === false;
  return (
    <Section
      title={isLoopback ? 'A program on this machine' : host}
      description="Allow it only if you have started its sign-in yourself, just now."
    >
      <Form fields={FIELDS} error={namedBound(allow.error)} onSubmit={(values) => allow.mutate(values)}>
        <DescriptionList
          items={[
            ['Sends the code to', <code key="host">{host}</code>],
            ['Gets', 'An API key that calls models. It manages nothing.'],
          ]}
        />
        <FieldRow>
          <TextField
            name="key_label"
            label="Name of the key"
            defaultValue={search.key_label ?? DEFAULT_LABEL}
            maxLength={200}
            dir="auto"
            hint="Another sign-in with this name replaces the key."
          />
          <SelectField
            name="workspace_id"
            label="Workspace"
            value={workspaceId}
            onChange={({ target }) => setChosen(target.value)}
            choices={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          />
        </FieldRow>
        <FieldRow>
          <TextField
            name="limit"
            label="Spend limit"
            prefix="USD"
            inputMode="decimal"
            defaultValue={search.limit}
            placeholder={limitPlaceholder(policy)}
            hint={limitHint(policy)}
          />
          {!isBounded && (
            <SelectField
              name="usage_limit_type"
              label="Limit resets"
              choices={KEY_RESETS}
              defaultValue={search.usage_limit_type ?? ''}
              hint="At 00:00 UTC."
            />
          )}
        </FieldRow>
        <TextField
          name="expires_at"
          label="Expires"
          type="datetime-local"
          max={LAST_MINUTE}
          defaultValue={expiryOf(search.expires_at, isBounded)}
          hint={expiryHint(policy, isBounded ? `in ${DEFAULT_DAYS} days` : 'never')}
        />
        <Notice tone="info">
          Calls with the key are paid by the workspace <bdi className={styles.name}>{workspace.name}</bdi>:
          they count toward its budgets{kind === 'person' && ', your own budget there'} and the credits of the
          account <bdi className={styles.name}>{account}</bdi>.
          {kind === 'person' && ' The key ends with your access.'}
        </Notice>
        {areKeysOff && (
          <Notice tone="bad">
            Own keys are off in this workspace. An administrator sets their bounds on its page.
          </Notice>
        )}
        <div className={styles.buttons}>
          <Button aria-disabled={allow.isPending} onClick={deny}>
            Deny
          </Button>
          <Button variant="primary" type="submit" isBusy={allow.isPending} aria-disabled={areKeysOff}>
            Allow
          </Button>
        </div>
      </Form>
    </Section>
  );
}

/** The end that the program asks for, else the service's own. Of bounded keys the workspace has one. */
function expiryOf(asked: string | undefined, isBounded: boolean): string | undefined {
  if (asked !== undefined && !Number.isNaN(Date.parse(asked))) return localMinute(asked);
  return isBounded ? undefined : localMinute(new Date(Date.now() + DEFAULT_DAYS * DAY_MS).toISOString());
}

type Terms = Omit<NewAuthCode, 'callback_url' | 'code_challenge' | 'code_challenge_method'>;

/** Absent members of a bounded key are those of the bounds. */
function readTerms(values: FormValues, isBounded: boolean): Terms {
  const limit = values.numberOrNull('limit');
  const reset = values.textOrNull('usage_limit_type') as NonNullable<NewAuthCode['usage_limit_type']> | null;
  const expiry = values.textOrNull('expires_at');
  return {
    key_label: values.text('key_label') || DEFAULT_LABEL,
    workspace_id: values.text('workspace_id'),
    ...(limit !== null && { limit }),
    ...(reset !== null && { usage_limit_type: reset }),
    // The service names the field of a text that is no time.
    ...(expiry !== null && { expires_at: isoTimeOfLocal(expiry) ?? expiry }),
    ...(expiry === null && !isBounded && { expires_at: null }),
  };
}

/** Null: the form shows the problem, and the reader can solve it. */
function refusalOf(error: unknown, host: string): string | null {
  if (!(error instanceof ApiError) || error.status !== 400) return null;
  return error.message.includes('callback_url: ')
    ? `The code would go to ${host}. The service sends codes to this machine, and over https to hosts that its operator lists in AUTH_CALLBACK_HOSTS.`
    : null;
}
