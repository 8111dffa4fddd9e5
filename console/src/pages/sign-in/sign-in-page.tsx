// A key is entered once; the browser keeps only the cookie of the session.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../../api/client';
import { BASE_PATH, urlOf } from '../../base-path';
import { messageOf } from '../../api/problems';
import { sessionQuery, signIn } from '../../api/session';
import { ThemeSwitch } from '../../app/theme-switch';
import { Button } from '../../components/actions/button';
import { Notice } from '../../components/feedback/states';
import { Form, TextField } from '../../components/form/form';
import { SignInFrame } from './sign-in-frame';
import styles from './sign-in-frame.module.css';

const route = getRouteApi('/sign-in');

/** A page of this console, never another origin: `//host` and `/\host` name one. */
function isOwnPath(path: string): boolean {
  return path.startsWith(BASE_PATH) && /^\/(?![/\\])/.test(path);
}

function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.status === 401) return 'This key is not valid. It may be mistyped, disabled, expired or deleted.';
  if (error.status === 429)
    return 'Too many failed sign-ins from this address. Wait a minute, then try again.';
  if (error.status === 400) return 'Enter the whole key, which begins with sk-sb-.';
  return error.message;
}

export function SignInPage() {
  const { from } = route.useSearch();
  const client = useQueryClient();
  const router = useRouter();
  const enter = useMutation({
    mutationFn: signIn,
    meta: { isSignIn: true },
    onSuccess: (session) => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, session);
      router.history.replace(from !== undefined && isOwnPath(from) ? from : BASE_PATH);
    },
  });
  useEffect(() => {
    document.title = 'Sign in · signalbox';
  }, []);
  return (
    <SignInFrame iconUrl={urlOf('/favicon.svg')} foot={<ThemeSwitch />}>
      {from !== undefined && !enter.isError && (
        <Notice tone="info">Sign in to continue. You return to the page that you were on.</Notice>
      )}
      {!isSecureContext && (
        <Notice tone="bad">
          Open the console over https, or at localhost on the machine of the service. Browsers keep its
          session for such addresses only: here the sign-in has no effect, and the network can read the key.
        </Notice>
      )}
      {enter.isError && <Notice tone="bad">{explain(enter.error)}</Notice>}
      <Form fields={[]} error={null} onSubmit={(values) => enter.mutate(values.text('key'))}>
        <TextField
          name="key"
          label="Key"
          type="password"
          autoComplete="current-password"
          placeholder="sk-sb-v1-…"
          spellCheck={false}
          required
          autoFocus
          hint="A management key opens the whole console, an inference key its own page."
        />
        <Button variant="primary" type="submit" isBusy={enter.isPending}>
          Sign in
        </Button>
      </Form>
      <p className={styles.help}>
        <code>npm start</code> prints the first management key. Elsewhere, create one with{' '}
        <code>npm run keys:create -- --management</code>.
      </p>
    </SignInFrame>
  );
}
