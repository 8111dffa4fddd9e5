// For a person who has signed in and has no role yet: the only page.
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { sessionQuery } from '../../api/session';
import { isWaiting } from '../../app/rights';
import { useSession } from '../../app/workspace';
import { Button } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { Code, Name } from '../../components/display/values';
import { EmptyState } from '../../components/feedback/states';

const LOOK_MS = 15_000;

export function WaitingPage() {
  const session = useSession();
  const router = useRouter();
  const { data, refetch } = useQuery({ ...sessionQuery, refetchInterval: LOOK_MS });
  // The session may have ended as well, which leads to the sign-in.
  const hasChanged = data === null || (data !== undefined && !isWaiting(data));
  useEffect(() => {
    if (hasChanged) void router.invalidate();
  }, [hasChanged, router]);
  if (session.kind !== 'person') return null;
  const { id, email } = session.person;
  return (
    <Page title="You wait for a role">
      <EmptyState
        title="You are signed in"
        action={<Button onClick={() => void refetch()}>Look again</Button>}
      >
        <p>
          No role lets you see <Name text={session.account_name} /> yet. Ask an owner or admin of the account
          for one. They find you on their page People, as{' '}
          {email === null ? <Code text={id} /> : <bdi>{email}</bdi>}.
        </p>
        <p>A role by a group of your identity provider comes with your next sign-in.</p>
      </EmptyState>
    </Page>
  );
}
