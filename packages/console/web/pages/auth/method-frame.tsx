import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { Sections } from '../../parts/sections.tsx';
import { To } from '../../parts/to.tsx';
import { Unreached } from '../../parts/unreached.tsx';
import type { MethodHere } from './use-method.ts';

interface MethodFrameProps {
  readonly here: MethodHere;
  readonly title: string;
  /** `config`, `locked`, or a noun's path. */
  readonly section: string;
  readonly item?: boolean;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of the pages of one login method. */
export function MethodFrame({ here: { mount, method, shown, read }, title, section, item = false, actions, children }: MethodFrameProps) {
  const noun = method?.nouns.find(({ path }) => path === section);
  const crumbs = [
    <To key="all" to="/auth">
      Logins
    </To>,
    <To key="mount" to="/auth/$mount" params={{ mount }}>
      {mount}/
    </To>,
    ...(item && noun
      ? [
          <To key="noun" to={`/auth/$mount/list/${noun.path}`} params={{ mount }}>
            {noun.many}
          </To>,
        ]
      : []),
  ];
  if (!method) {
    return (
      <Page title={title} crumbs={crumbs}>
        {!read ? (
          <Skeleton height={20} aria-label="Loading" />
        ) : shown ? (
          <Empty action={<To to="/mounts">Mounts</To>}>Logins of the type {shown.type} have no pages of their own.</Empty>
        ) : (
          <Unreached path={`auth/${mount}/config`}>There is no login method at {mount}/, or the token does not reach it.</Unreached>
        )}
      </Page>
    );
  }
  return (
    <Page title={title} crumbs={crumbs} actions={actions}>
      <Sections
        label={`Pages of ${mount}/`}
        sections={[
          { label: method.config ? 'Configuration' : 'Try a login', to: '/auth/$mount/config', current: section === 'config' },
          ...method.nouns.map(({ path, many }) => ({ label: many, to: `/auth/$mount/list/${path}`, current: section === path })),
          { label: 'Locked names', to: '/auth/$mount/locked', current: section === 'locked' },
        ]}
      />
      {children}
    </Page>
  );
}
