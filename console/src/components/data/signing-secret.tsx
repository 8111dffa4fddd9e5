// The secret by which the receiver of a webhook verifies signatures: loaded when it is asked for.
import { useQuery } from '@tanstack/react-query';
import type { UndefinedInitialDataOptions } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../api/problems';
import { Button } from '../actions/button';
import { Section } from '../display/section';
import { Code } from '../display/values';
import { Notice } from '../feedback/states';

interface SigningSecretProps<Key extends readonly unknown[]> {
  readonly query: UndefinedInitialDataOptions<string, Error, string, Key>;
}

export function SigningSecret<Key extends readonly unknown[]>({ query }: SigningSecretProps<Key>) {
  const [isShown, setShown] = useState(false);
  const { data, error } = useQuery({ ...query, enabled: isShown });
  return (
    <Section
      title="Signing secret"
      description="The receiver verifies the header webhook-signature with it, as Standard Webhooks describes."
      actions={
        <Button onClick={() => setShown(!isShown)} aria-expanded={isShown}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
      }
    >
      {isShown && error ? (
        <Notice tone="bad">{messageOf(error)}</Notice>
      ) : isShown && data !== undefined ? (
        <Code text={data} what="signing secret" />
      ) : (
        <code>whsec_{'•'.repeat(16)}</code>
      )}
    </Section>
  );
}
