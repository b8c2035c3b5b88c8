import type { ReactNode } from 'react';
import { mountCrumbs } from '../../parts/mount-crumbs.tsx';

const LABELS = { connections: 'Connections', roles: 'Roles', static: 'Static roles' } as const;

/** The way to a page of a database mount. */
export function databaseCrumbs(mount: string, tab?: keyof typeof LABELS): ReactNode[] {
  return mountCrumbs({ to: '/database', label: 'Databases' }, mount, tab && { id: tab, label: LABELS[tab] });
}
