// The form of a federation policy: the tokens that it takes, and the key whose calls they make.
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { FederationPolicy, NewFederationPolicy } from '../../api/federation';
import { memberProblem, readProblems } from '../../api/problems';
import { useLeaveQuestion } from '../../app/page-hold';
import { Button } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import { Notice } from '../../components/feedback/states';
import { FieldRow, Form, SelectField, TextAreaField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { KeyList } from '../../components/form/key-choice';
import { LeaveDialog } from '../../components/overlay/leave-dialog';
import { PLATFORMS } from './platforms';
import type { PlatformId } from './platforms';
import styles from './policies.module.css';

const FIELDS = ['name', 'issuer', 'audience', 'subject', 'claims', 'jwks', 'jwks_url', 'max_ttl_seconds'];
const KEY_SOURCES = [
  { value: 'url', label: 'Read from an address' },
  { value: 'stored', label: 'Stored here' },
];

interface PolicyFormProps {
  /** Absent: a new one. */
  readonly policy?: FederationPolicy;
  readonly platform: PlatformId;
  /** Whose keys are offered. */
  readonly workspaceId: string;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly action: string;
  /** Errors are texts that are no JSON. */
  readonly onSubmit: (settings: NewFederationPolicy | Error, initial: NewFederationPolicy | Error) => void;
  readonly cancel: ReactNode;
}

export function PolicyForm(props: PolicyFormProps) {
  const { policy, platform: platformId, workspaceId, error, isBusy, action, onSubmit, cancel } = props;
  const platform = PLATFORMS[platformId];
  const [begun] = useState(() => policy?.api_key_hash ?? '');
  const [hash, setHash] = useState(begun);
  const [subject, setSubject] = useState(policy?.subject ?? '');
  const isUrl = policy === undefined ? platform.jwksUrl !== undefined : policy.jwks_url !== null;
  const [source, setSource] = useState(isUrl ? 'url' : 'stored');
  const [isTouched, setTouched] = useState(false);
  const question = useLeaveQuestion(isTouched);
  const { members } = readProblems(error, ['api_key_hash']);
  return (
    <div onChange={() => setTouched(true)}>
      <Form
        fields={[...FIELDS, 'api_key_hash']}
        error={error}
        onSubmit={(values, initial) => onSubmit(readSettings(values, hash), readSettings(initial, begun))}
      >
        <Section title="Tokens that it takes">
          <div className={styles.fields}>
            <TextField
              name="name"
              label="Name"
              defaultValue={policy?.name}
              placeholder="Deployments of the shop"
              dir="auto"
            />
            <FieldRow>
              <TextField
                name="issuer"
                label="Issuer"
                defaultValue={policy?.issuer ?? platform.issuer}
                placeholder="https://issuer.example.com"
                spellCheck={false}
                hint={platform.issuerHint}
              />
              <TextField
                name="audience"
                label="Audience"
                defaultValue={policy?.audience ?? location.origin}
                spellCheck={false}
                hint="A name of this service. A token that was made for another service is refused."
              />
            </FieldRow>
            <TextField
              name="subject"
              label="Subject"
              value={subject}
              onChange={({ target }) => setSubject(target.value)}
              placeholder={platform.subject}
              spellCheck={false}
              hint={platform.subjectHint}
            />
            {subject.endsWith('*') && (
              <Notice tone="warning">
                The <code>*</code> stands for everything that follows: all branches, tags and pull requests of
                a repository, or all service accounts of a namespace.
              </Notice>
            )}
            <TextAreaField
              name="claims"
              label="Further claims"
              rows={3}
              spellCheck={false}
              isCode
              defaultValue={jsonOf(policy?.claims)}
              placeholder='{ "repository_visibility": "private" }'
              hint="JSON. Each must have exactly this value. Empty: none."
            />
            <SelectField
              name="keys"
              label="Public keys of the issuer"
              choices={KEY_SOURCES}
              value={source}
              onChange={({ target }) => setSource(target.value)}
              hint={source === 'url' ? undefined : 'For issuers that this service cannot reach.'}
            />
            {source === 'url' ? (
              <TextField
                name="jwks_url"
                label="Address of the keys"
                defaultValue={policy?.jwks_url ?? platform.jwksUrl}
                placeholder="https://issuer.example.com/jwks"
                spellCheck={false}
                hint={platform.jwksUrl === undefined ? undefined : platform.keysHint}
              />
            ) : (
              <TextAreaField
                name="jwks"
                label="Key set (JWKS)"
                rows={6}
                spellCheck={false}
                isCode
                defaultValue={jsonOf(policy?.jwks)}
                placeholder='{ "keys": [{ "kid": "…", "kty": "RSA", "n": "…", "e": "AQAB" }] }'
                hint={platform.jwksUrl === undefined ? platform.keysHint : 'JSON, each key with its kid.'}
              />
            )}
          </div>
        </Section>
        <Section
          title="Acts as"
          description="The limits, guardrails, workspace and record are those of the key. Its secret is not needed."
        >
          <div className={styles.fields}>
            <fieldset className={styles.group}>
              <legend className={styles.legend}>Key</legend>
              <KeyList
                workspaceId={workspaceId}
                chosen={hash === '' ? [] : [hash]}
                onChange={([chosen = '']) => setHash(chosen)}
                isSingle
              />
              {members['api_key_hash'] !== undefined && <Notice tone="bad">{members['api_key_hash']}</Notice>}
            </fieldset>
            <TextField
              name="max_ttl_seconds"
              label="Access tokens live for at most"
              inputMode="numeric"
              defaultValue={policy?.max_ttl_seconds ?? 900}
              hint="Seconds, 60 to 900: the time that a job needs between two exchanges."
            />
          </div>
        </Section>
        <div className={styles.buttons}>
          {cancel}
          <Button type="submit" variant="primary" isBusy={isBusy}>
            {action}
          </Button>
        </div>
      </Form>
      <LeaveDialog name={policy?.name ?? 'New policy'} question={question} />
    </div>
  );
}

/** The keys of the issuer or their address: the one that is sent replaces the other. `hash` empty: no key is chosen. */
function readSettings(values: FormValues, hash: string): NewFederationPolicy | Error {
  const claims = readJson(values, 'claims', {});
  if (claims instanceof Error) return claims;
  const isUrl = values.text('keys') === 'url';
  const jwks = isUrl ? null : readJson(values, 'jwks', memberProblem('jwks', 'paste the keys of the issuer'));
  if (jwks instanceof Error) return jwks;
  if (hash === '') return memberProblem('api_key_hash', 'choose a key');
  return {
    name: values.text('name'),
    issuer: values.text('issuer'),
    audience: values.text('audience'),
    subject: values.text('subject'),
    claims: claims as NonNullable<NewFederationPolicy['claims']>,
    // The service says that an empty field must have a value.
    max_ttl_seconds: values.numberOrNull('max_ttl_seconds') as number,
    api_key_hash: hash,
    ...(isUrl ? { jwks_url: values.text('jwks_url') } : { jwks: jwks as Record<string, never> }),
  };
}

function readJson(values: FormValues, name: string, absent: object): unknown {
  const text = values.text(name);
  if (text === '') return absent;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return memberProblem(name, 'is no valid JSON');
  }
}

const jsonOf = (value: object | null | undefined): string =>
  value === null || value === undefined || Object.keys(value).length === 0
    ? ''
    : JSON.stringify(value, null, 2);
