// Platforms that issue tokens for their jobs: what their tokens have, and how a job exchanges one.
import type { ReactNode } from 'react';
import type { FederationPolicy } from '../../api/federation';
import { baseUrl } from '../../components/data/samples';
import type { CodeSample } from '../../components/data/code-samples';

export const PLATFORM_IDS = ['github', 'kubernetes', 'other'] as const;
export type PlatformId = (typeof PLATFORM_IDS)[number];

export interface Platform {
  readonly name: string;
  readonly issuer: string;
  /** Undefined: the keys of the issuer are pasted. */
  readonly jwksUrl?: string;
  readonly issuerHint: ReactNode;
  readonly subject: string;
  readonly subjectHint: ReactNode;
  readonly keysHint: ReactNode;
}

const GITHUB = 'https://token.actions.githubusercontent.com';

export const PLATFORMS: Readonly<Record<PlatformId, Platform>> = {
  github: {
    name: 'GitHub Actions',
    issuer: GITHUB,
    jwksUrl: `${GITHUB}/.well-known/jwks`,
    issuerHint: 'All of github.com has this issuer: the subject names the repository.',
    subject: 'repo:acme/shop:ref:refs/heads/main',
    subjectHint: (
      <>
        A job with an environment: <code>repo:acme/shop:environment:production</code>. A pull request:{' '}
        <code>repo:acme/shop:pull_request</code>. An organisation can set another form.
      </>
    ),
    keysHint: 'They are read again every five minutes.',
  },
  kubernetes: {
    name: 'Kubernetes',
    issuer: '',
    issuerHint: (
      <>
        <code>kubectl get --raw /.well-known/openid-configuration</code> shows it.
      </>
    ),
    subject: 'system:serviceaccount:shop:evaluator',
    subjectHint: (
      <>
        <code>system:serviceaccount:</code>, the namespace, <code>:</code> and the service account.
      </>
    ),
    keysHint: (
      <>
        <code>kubectl get --raw /openid/v1/jwks</code> shows them. They change with the signing key of the
        cluster.
      </>
    ),
  },
  other: {
    name: 'Another issuer',
    issuer: '',
    jwksUrl: '',
    issuerHint: (
      <>
        The <code>iss</code> of its tokens, exactly.
      </>
    ),
    subject: '',
    subjectHint: (
      <>
        The <code>sub</code> of the job&apos;s tokens, exactly.
      </>
    ),
    keysHint: (
      <>
        The <code>jwks_uri</code> of the issuer&apos;s metadata. They are read again every five minutes.
      </>
    ),
  },
};

/** Which platform a policy is of, for its commands. */
export function platformOf({ issuer, subject }: Pick<FederationPolicy, 'issuer' | 'subject'>): PlatformId {
  if (issuer === GITHUB) return 'github';
  return subject.startsWith('system:serviceaccount:') ? 'kubernetes' : 'other';
}

const exchange = (id: string, token: string, indent = ''): string =>
  [
    `curl -sSf ${baseUrl()}/oauth/token \\`,
    '  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\',
    '  -d subject_token_type=urn:ietf:params:oauth:token-type:jwt \\',
    `  -d federation_policy_id=${id} \\`,
    `  --data-urlencode subject_token=${token}`,
  ].join(`\n${indent}`);

/** The commands of a job, those of its own platform first. */
export function jobSamples(policy: FederationPolicy): readonly CodeSample[] {
  const { id, audience } = policy;
  const shell = {
    language: 'Shell',
    code: `# TOKEN: the token that the platform has issued to the job
export OPENAI_API_KEY=$(${exchange(id, '"$TOKEN"', '  ')} | jq -r .access_token)
export OPENAI_BASE_URL=${baseUrl()}`,
  };
  const platform = platformOf(policy);
  if (platform === 'github') return [{ language: 'GitHub Actions', code: githubSteps(id, audience) }, shell];
  if (platform === 'kubernetes')
    return [
      { language: 'Pod', code: podVolume(audience) },
      {
        ...shell,
        code: `TOKEN=$(cat /var/run/secrets/signalbox/token)\n${shell.code.split('\n').slice(1).join('\n')}`,
      },
    ];
  return [shell];
}

const githubSteps = (id: string, audience: string): string => `permissions:
  id-token: write
steps:
  - name: Get an access token
    run: |
      token=$(curl -sSf -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
        "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${encodeURIComponent(audience)}" | jq -r .value)
      access=$(${exchange(id, '"$token"', '        ')} | jq -r .access_token)
      echo "::add-mask::$access"
      echo "OPENAI_API_KEY=$access" >> "$GITHUB_ENV"
      echo "OPENAI_BASE_URL=${baseUrl()}" >> "$GITHUB_ENV"`;

const podVolume = (audience: string): string => `spec:
  containers:
    - name: job
      volumeMounts:
        - name: signalbox
          mountPath: /var/run/secrets/signalbox
          readOnly: true
  volumes:
    - name: signalbox
      projected:
        sources:
          - serviceAccountToken:
              path: token
              audience: ${JSON.stringify(audience)}
              expirationSeconds: 3600`;
