import type { ReactNode } from 'react';
import { To } from '../../parts/to.tsx';

const LABELS = { roles: 'Roles', static: 'Static roles' } as const;

/** The way to a page of an AWS mount. */
export function cloudCrumbs(mount: string, tab?: keyof typeof LABELS): ReactNode[] {
  const way = [
    <To key="all" to="/aws">
      Cloud
    </To>,
    <To key="mount" to="/aws/$mount" params={{ mount }}>
      {mount}
    </To>,
  ];
  if (tab === undefined) return way;
  return [
    ...way,
    <To key="tab" to="/aws/$mount" params={{ mount }} search={{ tab }}>
      {LABELS[tab]}
    </To>,
  ];
}
