// The name of a key that an answer gives by its hash.
import { useQuery } from '@tanstack/react-query';
import { keyQuery } from '../../api/keys';
import { abbreviate } from '../../format';
import { Name } from '../display/values';

/** Until the name is known, and when it cannot be read, the start of the hash. */
export function KeyName({ hash }: { readonly hash: string }) {
  const { data } = useQuery(keyQuery(hash));
  return <Name text={data?.name ?? abbreviate(hash)} />;
}
