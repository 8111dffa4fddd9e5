// A key is entered once; the browser keeps only the cookie of the session.
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client';
import { messageOf } from '../../api/problems';
import { signIn } from '../../api/session';
import type { Session } from '../../api/session';
import { Button } from '../../components/actions/button';
import { Notice } from '../../components/feedback/states';
import { Form, TextField } from '../../components/form/form';

function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.status === 401) return 'This key is not valid. It may be mistyped, disabled, expired or deleted.';
  if (error.status === 429)
    return 'Too many failed sign-ins from this address. Wait a minute, then try again.';
  if (error.status === 400) return 'Enter the whole key, which begins with sk-sb-.';
  return error.message;
}

interface SignInFormProps {
  /** False: there are other ways in, above it. */
  readonly isFirst: boolean;
  /** Until an attempt has failed. */
  readonly notice: ReactNode;
  readonly onSignedIn: (session: Session) => void;
}

export function SignInForm({ isFirst, notice, onSignedIn }: SignInFormProps) {
  const enter = useMutation({ mutationFn: signIn, meta: { isSignIn: true }, onSuccess: onSignedIn });
  return (
    <>
      {enter.isError ? <Notice tone="bad">{explain(enter.error)}</Notice> : notice}
      <Form fields={[]} error={null} onSubmit={(values) => enter.mutate(values.text('key'))}>
        <TextField
          name="key"
          label="Key"
          type="password"
          autoComplete="current-password"
          placeholder="sk-sb-v1-…"
          spellCheck={false}
          required
          autoFocus={isFirst}
          hint="A management key opens the whole console, an API key its own page."
        />
        <Button variant={isFirst ? 'primary' : 'secondary'} type="submit" isBusy={enter.isPending}>
          Sign in
        </Button>
      </Form>
    </>
  );
}
