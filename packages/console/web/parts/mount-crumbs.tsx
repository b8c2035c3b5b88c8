import type { ReactNode } from 'react';
import { To } from './to.tsx';

interface Area {
  /** The page of all mounts of the kind; a mount's own page is below it. */
  readonly to: string;
  readonly label: string;
}

/** The way to a page of a mount; `tab`: the list that it stands in. */
export function mountCrumbs(area: Area, mount: string, tab?: { readonly id: string; readonly label: string }): ReactNode[] {
  const own = `${area.to}/$mount`;
  return [
    <To key="all" to={area.to}>
      {area.label}
    </To>,
    <To key="mount" to={own} params={{ mount }}>
      {mount}
    </To>,
    ...(tab
      ? [
          <To key="tab" to={own} params={{ mount }} search={{ tab: tab.id }}>
            {tab.label}
          </To>,
        ]
      : []),
  ];
}
