import { useMutation } from '@tanstack/react-query';
import { downloadCsv } from '../../api/client';
import type { CsvList } from '../../api/client';
import { messageOf } from '../../api/problems';
import { showToast } from '../feedback/toasts';
import { Button } from './button';

/** Saves a list as a file, with the filters of the page. */
export function CsvButton({ list, title }: { readonly list: CsvList; readonly title?: string }) {
  const download = useMutation({
    mutationFn: () => downloadCsv(list),
    onSuccess: ({ isWhole }) => {
      if (!isWhole) showToast({ tone: 'bad', text: 'The list is longer than the file. Filter it further.' });
    },
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  return (
    <Button isBusy={download.isPending} title={title} onClick={() => download.mutate()}>
      Download CSV
    </Button>
  );
}
