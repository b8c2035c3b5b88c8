import type { ReactNode } from 'react';
import { mountCrumbs } from '../../parts/mount-crumbs.tsx';

const LABELS = { roles: 'Roles', static: 'Static roles' } as const;

/** The way to a page of an AWS mount. */
export function cloudCrumbs(mount: string, tab?: keyof typeof LABELS): ReactNode[] {
  return mountCrumbs({ to: '/aws', label: 'Cloud' }, mount, tab && { id: tab, label: LABELS[tab] });
}
