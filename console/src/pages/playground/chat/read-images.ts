// Images that the user attaches to a message, as the data that a call carries.
import type { AttachedImage } from './wires/turns';

/** The types that every provider of images takes. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
// A body has 20 MiB at most, and base64 takes a third more.
const MAX_IMAGES = 4;
const MAX_BYTES = 3_500_000;
const MEGABYTE = 1_000_000;

interface ReadImages {
  readonly images: readonly AttachedImage[];
  /** Why files were left out. */
  readonly problem: string | undefined;
}

/** `attached`: the images that the message has already. */
export async function readImages(
  files: readonly File[],
  attached: readonly AttachedImage[],
): Promise<ReadImages> {
  const problems = files.flatMap((file) => problemOf(file) ?? []);
  const fitting = files.filter((file) => problemOf(file) === undefined);
  const room = MAX_IMAGES - attached.length;
  if (fitting.length > room) problems.push(`A message takes ${MAX_IMAGES} images.`);
  const added = await Promise.all(fitting.slice(0, room).map(readImage));
  return { images: [...attached, ...added], problem: problems.length === 0 ? undefined : problems.join(' ') };
}

function problemOf({ name, type, size }: File): string | undefined {
  if (!IMAGE_TYPES.includes(type)) return `${name} is no PNG, JPEG, WebP or GIF.`;
  return size > MAX_BYTES
    ? `${name} has ${(size / MEGABYTE).toFixed(1)} MB; an image may have ${MAX_BYTES / MEGABYTE} MB.`
    : undefined;
}

function readImage(file: File): Promise<AttachedImage> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onloadend = () => {
      const { result } = reader;
      if (typeof result === 'string') resolve({ name: file.name, url: result });
      else reject(reader.error ?? new Error('the file cannot be read'));
    };
    reader.readAsDataURL(file);
  });
}
