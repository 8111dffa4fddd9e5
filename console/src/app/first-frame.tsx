// The content of index.html until the scripts have arrived. Only the build renders it; the styles choose what is seen.
import { renderToStaticMarkup } from 'react-dom/server';
import { IconButton } from '../components/actions/button';
import { Placeholder } from '../components/feedback/states';
import { SignInFrame } from '../pages/sign-in/sign-in-frame';
import { Frame } from './frame';
import type { FrameLinkProps } from './frame';
import styles from './frame.module.css';
import { NAVIGATION } from './navigation';

// The build names files like this; the service writes the whole path.
const iconUrl = './favicon.svg';

export function renderFirstFrame(): string {
  return renderToStaticMarkup(
    <>
      <div className={styles.first}>
        <Frame
          groups={NAVIGATION}
          EntryLink={FirstLink}
          iconUrl={iconUrl}
          find={<div className={styles.firstFind} />}
          toggle={<IconButton icon="menu" label="Open navigation" />}
          top={<div className={styles.firstSwitch} />}
        >
          <div className={styles.firstTitle} />
          <Placeholder lines={8} />
        </Frame>
      </div>
      <div className={styles.firstSignIn}>
        <SignInFrame iconUrl={iconUrl}>
          <Placeholder lines={6} />
        </SignInFrame>
      </div>
    </>,
  );
}

function FirstLink({ to, className, children }: FrameLinkProps) {
  return (
    <a href={`.${to}`} className={className}>
      {children}
    </a>
  );
}
