// An image of a message. Only one that the message itself carries is loaded: another origin would learn of the reader.
import { Icon } from '../display/icon';
import styles from './image.module.css';

interface ImageProps {
  readonly url: string;
  readonly description: string;
}

const OWN_DATA = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i;

export function Image({ url, description }: ImageProps) {
  if (OWN_DATA.test(url)) return <img className={styles.image} src={url} alt={description || 'Image'} />;
  return (
    <span className={styles.absent}>
      <Icon name="image" />
      <span className={styles.text}>
        {description || 'Image'}
        {/^https?:/i.test(url) && (
          <>
            {', not loaded: '}
            <a href={url} title={url} target="_blank" rel="noopener noreferrer nofollow">
              {hostOf(url)}
            </a>
          </>
        )}
      </span>
    </span>
  );
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
