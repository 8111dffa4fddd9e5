// Changes of the operator's layer of a model, each made from the newest revision that the page has read.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CATALOGUE, changeLayer, isOvertaken, readCatalogueModel } from '../../../api/catalogue';
import type { CatalogueModel, ModelDocument } from '../../../api/catalogue';
import { renameProblems } from '../../../api/problems';
import { layerOrNull } from './documents';

export interface LayerEdit {
  /** The layer with the change. It is made again from a newer revision where another person was faster. */
  readonly make: (entry: CatalogueModel) => ModelDocument;
  readonly reason: string | null;
  /** A problem of the layer that was sent with the field of the form that has it. */
  readonly inForm: (problem: string, layer: ModelDocument) => string;
}

export const asItIs = (problem: string): string => problem;

interface LayerAttempt extends LayerEdit {
  readonly isRenewed: boolean;
}

export function useLayerChange(entry: CatalogueModel, onSaved: () => void | Promise<void>) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ make, reason, inForm, isRenewed }: LayerAttempt) => {
      const from = isRenewed ? await readCatalogueModel(entry.id) : entry;
      const layer = layerOrNull(make(from));
      // Nothing to end: the model is as in the layers below already.
      if (layer === null && !from.layers.includes('operator')) return;
      await changeLayer({ id: from.id, kind: from.kind, layer, version: from.version, reason }).catch(
        (error: unknown) => {
          throw renameProblems(error, (problem) => inForm(problem, layer ?? {}));
        },
      );
    },
    onSuccess: async () => {
      await onSaved();
      await refreshCatalogue(client);
    },
  });
  const { error, variables } = change;
  return {
    error,
    isPending: change.isPending,
    reset: change.reset,
    save: (edit: LayerEdit) => change.mutate({ ...edit, isRenewed: false }),
    /** Another person changed the model since it was read: the same change over theirs. */
    saveOverNewest:
      isOvertaken(error) && variables !== undefined
        ? () => change.mutate({ ...variables, isRenewed: true })
        : undefined,
  };
}

/** Lists, prices and health show what calls meet now. */
export async function refreshCatalogue(client: ReturnType<typeof useQueryClient>): Promise<void> {
  await client.invalidateQueries({ queryKey: CATALOGUE });
  for (const queryKey of [['models'], ['endpoints'], ['system']]) void client.invalidateQueries({ queryKey });
}
