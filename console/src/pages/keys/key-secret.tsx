// The secret of a new or rotated key. The service shows it once.
import { CopyButton } from '../../components/actions/copy-button';
import { Button } from '../../components/actions/button';
import { CodeSamples } from '../../components/data/code-samples';
import { embeddingSamples } from '../../components/data/samples';
import { Notice } from '../../components/feedback/states';
import { DialogButtons } from '../../components/overlay/dialog';
import styles from './keys.module.css';

interface KeySecretViewProps {
  readonly secret: string;
  readonly model: string;
  readonly isManagement: boolean;
  readonly onDone: () => void;
}

export function KeySecretView({ secret, model, isManagement, onDone }: KeySecretViewProps) {
  return (
    <>
      <Notice tone="warning">Copy the key now. It is not shown again.</Notice>
      <div className={styles.secret}>
        <code data-testid="secret">{secret}</code>
        <CopyButton text={secret} what="key" hasLabel />
      </div>
      {!isManagement && (
        <CodeSamples
          label="Use the key"
          samples={embeddingSamples({ key: secret, model, input: 'The quick brown fox' })}
        />
      )}
      <DialogButtons>
        <Button variant="primary" onClick={onDone}>
          Done
        </Button>
      </DialogButtons>
    </>
  );
}
