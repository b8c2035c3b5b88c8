import type { ReactNode } from 'react';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { Sections } from '../../parts/sections.tsx';
import { To } from '../../parts/to.tsx';

const SECTIONS = [
  ['config', 'Configuration'],
  ['library', 'Library'],
  ['static', 'Static roles'],
  ['dynamic', 'Dynamic roles'],
  ['orphans', 'Orphans'],
  ['failing', 'Failing'],
] as const;

interface LdapFrameProps {
  readonly title: string;
  readonly section: (typeof SECTIONS)[number][0];
  /** The page is of one thing of the section. */
  readonly item?: boolean;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of the pages of one mount of accounts of a directory. */
export function LdapFrame({ title, section, item = false, beside, actions, children }: LdapFrameProps) {
  const { params } = usePlace();
  const label = SECTIONS.find(([name]) => name === section)![1];
  return (
    <Page
      title={title}
      beside={beside}
      actions={actions}
      crumbs={[
        <To key="all" to="/ldap">
          Directory
        </To>,
        <To key="mount" to="/ldap/$mount" params={params}>
          {params.mount}/
        </To>,
        ...(item
          ? [
              <To key="section" to={`/ldap/$mount/${section}`} params={params}>
                {label}
              </To>,
            ]
          : []),
      ]}
    >
      <Sections
        label={`Pages of ${params.mount}/`}
        sections={SECTIONS.map(([name, text]) => ({ label: text, to: `/ldap/$mount/${name}`, current: name === section }))}
      />
      {children}
    </Page>
  );
}
