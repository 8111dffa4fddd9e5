// The ways in: by an identity provider, if one is configured, and by a key.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { providerButtonsQuery } from '../../api/sign-in';
import type { Session } from '../../api/session';
import { signInUrl } from '../../app/renewal';
import { buttonClass } from '../../components/actions/button';
import { Placeholder } from '../../components/feedback/states';
import { SignInForm } from './sign-in-form';
import styles from './sign-in-frame.module.css';

interface SignInWaysProps {
  /** The page after the sign-in by a provider. */
  readonly returnTo: string;
  /** True: the provider opens beside this page, which stays. */
  readonly isBeside?: boolean;
  readonly notice: ReactNode;
  readonly onSignedIn: (session: Session) => void;
}

export function SignInWays({ returnTo, isBeside = false, notice, onSignedIn }: SignInWaysProps) {
  const { data, isPending } = useQuery(providerButtonsQuery);
  // Buttons that come later would move the form under the hands of the reader.
  if (isPending) return <Placeholder lines={6} />;
  const providers = data ?? [];
  const hasProviders = providers.length > 0;
  return (
    <>
      {hasProviders && (
        <>
          {notice}
          <ul className={styles.providers}>
            {providers.map(({ id, name }) => (
              <li key={id}>
                <a
                  href={signInUrl(id, returnTo)}
                  className={buttonClass('primary', styles.provider)}
                  {...(isBeside && { target: '_blank', rel: 'noopener' })}
                >
                  <bdi>Sign in with {name}</bdi>
                </a>
              </li>
            ))}
          </ul>
          <p className={styles.or}>or with a key</p>
        </>
      )}
      <SignInForm
        isFirst={!hasProviders}
        notice={hasProviders ? undefined : notice}
        onSignedIn={onSignedIn}
      />
    </>
  );
}
