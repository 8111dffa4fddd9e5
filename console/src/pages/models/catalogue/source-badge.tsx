import type { CatalogueEntry, LayerName } from '../../../api/catalogue';
import { Badge } from '../../../components/display/badge';
import type { Tone } from '../../../components/display/badge';
import { LAYER_WORDS } from './documents';

const TONES: Readonly<Record<LayerName, Tone>> = {
  shipped: 'neutral',
  imported: 'warning',
  operator: 'accent',
  file: 'good',
};

/** The highest layer that has the model; those below on hover. */
export function SourceBadge({ layers }: Pick<CatalogueEntry, 'layers'>) {
  const top = layers.at(-1);
  if (top === undefined) return null;
  return (
    <span title={layers.map((name) => LAYER_WORDS[name]).join(', then ')}>
      <Badge tone={TONES[top]}>{LAYER_WORDS[top]}</Badge>
    </span>
  );
}
