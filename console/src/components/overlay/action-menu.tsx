// The further actions of one object, behind a button.
import { Menu } from '@base-ui/react/menu';
import { IconButton } from '../actions/button';
import styles from './action-menu.module.css';

export interface MenuAction {
  readonly label: string;
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
}

/** `label` names the object: "Actions for Search team". */
export function ActionMenu({
  label,
  actions,
}: {
  readonly label: string;
  readonly actions: readonly MenuAction[];
}) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger render={<IconButton icon="more" label={label} />} />
      <Menu.Portal>
        <Menu.Positioner className={styles.positioner} align="end" sideOffset={4}>
          <Menu.Popup className={styles.menu}>
            {actions.map((action) => (
              <Menu.Item
                key={action.label}
                className={`${styles.item} ${action.isDangerous ? styles.dangerous : ''}`}
                onClick={action.onSelect}
              >
                {action.label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
