import { useState } from 'react';
import { showToast } from '../feedback/toasts';
import { Button, IconButton } from './button';

interface CopyButtonProps {
  readonly text: string;
  /** Completes "Copy ...": "key". */
  readonly what: string;
  readonly hasLabel?: boolean;
}

const SHOWN_MS = 2000;

export function CopyButton({ text, what, hasLabel = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Plain HTTP on another host than this machine has no clipboard.
      showToast({
        tone: 'bad',
        text: `The browser did not allow copying. Select the ${what} and copy it by hand.`,
      });
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  const label = isCopied ? 'Copied' : `Copy ${what}`;
  const icon = isCopied ? 'check' : 'copy';
  return hasLabel ? (
    <Button icon={icon} onClick={() => void copy()}>
      {label}
    </Button>
  ) : (
    <IconButton icon={icon} label={label} onClick={() => void copy()} />
  );
}
