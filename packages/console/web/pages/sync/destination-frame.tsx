import type { ReactNode } from 'react';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { Sections } from '../../parts/sections.tsx';
import { To } from '../../parts/to.tsx';

interface DestinationFrameProps {
  readonly section: 'copies' | 'plan' | 'link' | 'settings';
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of the pages of one destination. */
export function DestinationFrame({ section, title, actions, children }: DestinationFrameProps) {
  const { type = '', name = '' } = usePlace().params;
  const sections = [
    { label: 'Copies', to: '/sync/$type/$name', current: section === 'copies' },
    { label: 'Plan', to: '/sync/$type/$name/plan', current: section === 'plan' },
    { label: 'Link secrets', to: '/sync/$type/$name/link', current: section === 'link' },
    { label: 'Settings', to: '/sync/$type/$name/settings', current: section === 'settings' },
  ];
  return (
    <Page
      title={title ?? `${type}/${name}`}
      actions={actions}
      crumbs={[
        <To key="all" to="/sync">
          Sync
        </To>,
        <To key="one" to="/sync/$type/$name" params={{ type, name }}>
          {type}/{name}
        </To>,
      ]}
    >
      <Sections label={`Pages of ${type}/${name}`} sections={sections} />
      {children}
    </Page>
  );
}
