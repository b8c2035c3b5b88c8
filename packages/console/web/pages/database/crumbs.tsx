import type { ReactNode } from 'react';
import { To } from '../../parts/to.tsx';

const LABELS = { connections: 'Connections', roles: 'Roles', static: 'Static roles' } as const;

export type DatabaseTab = keyof typeof LABELS | 'failing';

/** The way to a page of a mount. */
export function databaseCrumbs(mount: string, tab?: keyof typeof LABELS): ReactNode[] {
  const way = [
    <To key="all" to="/database">
      Databases
    </To>,
    <To key="mount" to="/database/$mount" params={{ mount }}>
      {mount}
    </To>,
  ];
  if (tab === undefined) return way;
  return [
    ...way,
    <To key="tab" to="/database/$mount" params={{ mount }} search={{ tab }}>
      {LABELS[tab]}
    </To>,
  ];
}
