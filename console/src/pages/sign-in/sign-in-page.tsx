// The page of the sign-in, which leads back to the page that was asked for.
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { BASE_PATH, urlOf } from '../../base-path';
import { END_SESSION, sessionQuery } from '../../api/session';
import { ThemeSwitch } from '../../app/theme-switch';
import { Notice } from '../../components/feedback/states';
import { SignInFrame } from './sign-in-frame';
import { SignInWays } from './sign-in-ways';
import styles from './sign-in-frame.module.css';

const route = getRouteApi('/sign-in');

/** A page of this console, never another origin: `//host` and `/\host` name one. */
function isOwnPath(path: string): boolean {
  return path.startsWith(BASE_PATH) && /^\/(?![/\\])/.test(path);
}

export function SignInPage() {
  const { from } = route.useSearch();
  const client = useQueryClient();
  const router = useRouter();
  const returnTo = from !== undefined && isOwnPath(from) ? from : BASE_PATH;
  const endSessionUrl = client.getQueryData<string | null>(END_SESSION) ?? null;
  useEffect(() => {
    document.title = 'Sign in · signalbox';
  }, []);
  return (
    <SignInFrame iconUrl={urlOf('/favicon.svg')} foot={<ThemeSwitch />}>
      {!isSecureContext && (
        <Notice tone="bad">
          Open the console over https, or at localhost on the machine of the service. Browsers keep its
          session for such addresses only: here the sign-in has no effect, and the network can read the key.
        </Notice>
      )}
      {endSessionUrl !== null && /^https?:/.test(endSessionUrl) && (
        <Notice tone="info">
          You are signed out here. Your identity provider still knows you:{' '}
          <a href={endSessionUrl}>sign out there as well</a>.
        </Notice>
      )}
      <SignInWays
        returnTo={returnTo}
        notice={
          from !== undefined &&
          from !== BASE_PATH && (
            <Notice tone="info">Sign in to continue. You return to the page that you were on.</Notice>
          )
        }
        onSignedIn={(session) => {
          client.clear();
          client.setQueryData(sessionQuery.queryKey, session);
          router.history.replace(returnTo);
        }}
      />
      <p className={styles.help}>
        <code>npm start</code> prints the first management key. Elsewhere, create one with{' '}
        <code>npm run keys:create -- --management</code>.
      </p>
    </SignInFrame>
  );
}
