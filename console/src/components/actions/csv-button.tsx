import { useMutation } from '@tanstack/react-query';
import { downloadCsv } from '../../api/client';
import type { CsvList } from '../../api/client';
import { messageOf } from '../../api/problems';
import { showToast } from '../feedback/toasts';
import { Button } from './button';

/** Saves a list as a file, with the filters of the page. */
export const CsvButton = ({ list }: { readonly list: CsvList }) => (
  <SaveButton save={() => downloadCsv(list)} />
);

interface SaveButtonProps {
  /** `isWhole`: the file has all rows. */
  readonly save: () => Promise<{ readonly isWhole: boolean }>;
}

export function SaveButton({ save }: SaveButtonProps) {
  const download = useMutation({
    mutationFn: save,
    onSuccess: ({ isWhole }) => {
      if (!isWhole) showToast({ tone: 'bad', text: 'The list is longer than the file. Filter it further.' });
    },
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  return (
    <Button isBusy={download.isPending} onClick={() => download.mutate()}>
      Download CSV
    </Button>
  );
}
