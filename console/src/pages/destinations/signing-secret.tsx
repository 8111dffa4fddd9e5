// The secret by which the receiver of a webhook verifies signatures: loaded when it is asked for.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { signingSecretQuery } from '../../api/destinations';
import { messageOf } from '../../api/problems';
import { Button } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import { Code } from '../../components/display/values';
import { Notice } from '../../components/feedback/states';

export function SigningSecret({ id }: { readonly id: string }) {
  const [isShown, setShown] = useState(false);
  const { data, error } = useQuery({ ...signingSecretQuery(id), enabled: isShown });
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
