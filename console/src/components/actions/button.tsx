import type { ComponentProps } from 'react';
import { Icon } from '../display/icon';
import type { IconName } from '../display/icon';
import styles from './button.module.css';

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: 'primary' | 'secondary' | 'ghost' | 'danger';
  readonly icon?: IconName;
  /** Shows that the action runs, and ignores further clicks. */
  readonly isBusy?: boolean;
}

export function Button({
  variant = 'secondary',
  icon,
  isBusy,
  'aria-disabled': isDisabled,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const isInert = Boolean(isBusy) || isDisabled === true;
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass(variant, className)}
      aria-busy={isBusy ?? undefined}
      // Not `disabled`, which would take the focus away.
      aria-disabled={isInert || undefined}
      onClick={isInert ? (event) => event.preventDefault() : onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** For links that look like buttons. */
export function buttonClass(variant: NonNullable<ButtonProps['variant']> = 'secondary', extra = ''): string {
  return `${styles.button} ${styles[variant]} ${extra}`;
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly icon: IconName;
  /** The accessible name. */
  readonly label: string;
}

export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`${styles.iconButton} ${className}`}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </button>
  );
}
