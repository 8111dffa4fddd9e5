// How people sign in: the identity providers as the operator has configured them, and the roles that groups give.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { signInProvidersQuery } from '../../api/sign-in';
import type { SignInProvider } from '../../api/sign-in';
import { buttonClass } from '../../components/actions/button';
import { CodeBlock } from '../../components/data/code-block';
import { Badge } from '../../components/display/badge';
import type { Tone } from '../../components/display/badge';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Code, Time } from '../../components/display/values';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { capitalise, formatCountOf } from '../../format';
import { GroupMappings } from './group-mappings';
import styles from './sign-in-settings.module.css';

const VARIABLES = `PUBLIC_URL=https://gateway.example.com
OIDC_ISSUER=https://id.example.com
OIDC_CLIENT_ID=gateway
OIDC_CLIENT_SECRET=...
OIDC_OWNER_GROUPS=platform-admins`;

const STATES: Readonly<Record<SignInProvider['discovery']['state'], readonly [string, Tone]>> = {
  untried: ['Not tried since the start', 'neutral'],
  ready: ['Answers', 'good'],
  failed: ['Does not answer', 'bad'],
};

export function SignInSettingsPage() {
  const { data, error, refetch } = useQuery(signInProvidersQuery);
  return (
    <Page
      title="Sign-in"
      description="Identity providers sign people in to this console. The variables of the service configure them."
      actions={
        <Link to="/people" className={buttonClass()}>
          People
        </Link>
      }
    >
      {data === undefined ? (
        <Section title="Identity providers">
          {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Placeholder lines={8} />}
        </Section>
      ) : data.length === 0 ? (
        <Section title="Identity providers">
          <EmptyState title="No identity provider is configured">
            <p>
              Only keys sign in. Set these variables of the service, and register the redirect address{' '}
              <code>PUBLIC_URL/console/sign-in/oidc/callback</code> at the provider. Several providers stand
              in the file that <code>OIDC_PROVIDERS_FILE</code> names.
            </p>
            <CodeBlock code={VARIABLES} what="variables" />
          </EmptyState>
        </Section>
      ) : (
        data.map((provider) => <Provider key={provider.id} provider={provider} />)
      )}
      <GroupMappings providers={data} />
    </Page>
  );
}

function Provider({ provider }: { readonly provider: SignInProvider }) {
  const { name, discovery, groups_claim: groupsClaim, claim_names: claims } = provider;
  const [state, tone] = STATES[discovery.state];
  const isLacking =
    claims !== null && !claims.includes(groupsClaim) && !claims.includes(groupsClaim.split('.')[0] ?? '');
  return (
    <Section title={name} description="Read only: the configuration is the operator's.">
      <div className={styles.stack}>
        {discovery.problem !== null && (
          <Notice tone="bad">
            The discovery of the provider failed: <bdi>{discovery.problem}</bdi>
          </Notice>
        )}
        {isLacking && (
          <Notice tone="warning">
            Your last sign-in had no claim <code>{groupsClaim}</code>, so no group can give a role. Let the
            provider send it, or set <code>OIDC_GROUPS_CLAIM</code> and <code>OIDC_SCOPES</code>.
          </Notice>
        )}
        <DescriptionList
          items={[
            [
              'Discovery',
              <span key="discovery">
                <Badge tone={tone}>{state}</Badge>{' '}
                {discovery.checked_at !== null && <Time at={discovery.checked_at} isRelative isPast />}
              </span>,
            ],
            [
              'Redirect address',
              <Code key="redirect" text={provider.redirect_url} what="redirect address" />,
            ],
            ['Issuer', <Code key="issuer" text={provider.issuer} />],
            ['Client id', <Code key="client" text={provider.client_id} />],
            ['Scopes', <code key="scopes">{provider.scopes}</code>],
            ['Groups claim', <code key="groups">{groupsClaim}</code>],
            [
              'Claims of your last sign-in',
              claims === null ? (
                'You have not signed in by this provider'
              ) : (
                <Names key="claims" names={claims} />
              ),
            ],
            [
              'E-mail domains',
              provider.allowed_domains.length === 0 ? 'Any' : provider.allowed_domains.join(', '),
            ],
            [
              'Owners',
              provider.owner_groups.length === 0 ? (
                'By no group'
              ) : (
                <Names key="owners" names={provider.owner_groups} />
              ),
            ],
            [
              'Without a group',
              provider.default_role === 'none'
                ? 'A person waits for a role'
                : capitalise(provider.default_role),
            ],
            ['Session', `Ends ${formatCountOf(provider.session_minutes, 'minute')} after the sign-in`],
            [
              'Keys',
              `Stop ${formatCountOf(provider.key_grace_days, 'day')} after the last sign-in of the person who made them`,
            ],
          ]}
        />
      </div>
    </Section>
  );
}

const Names = ({ names }: { readonly names: readonly string[] }) => (
  <ul className={styles.names}>
    {names.map((name) => (
      <li key={name}>
        <code>{name}</code>
      </li>
    ))}
  </ul>
);
