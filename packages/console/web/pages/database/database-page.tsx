import { MountNouns, type Noun } from '../../parts/mount-nouns.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { databaseCrumbs } from './crumbs.tsx';
import { DatabaseFailing } from './database-failing.tsx';

const NOUNS: readonly Noun[] = [
  {
    ...{ tab: 'connections', list: 'config', to: '/database/$mount/connections/$name', label: 'Connections', create: 'New connection' },
    empty: 'A connection says where a database is and as whom the server logs in there. Begin with one.',
  },
  {
    ...{ tab: 'roles', list: 'roles', to: '/database/$mount/roles/$name', label: 'Roles', create: 'New role' },
    empty: 'A role makes a user of its own for everybody who asks, and removes it when the lease ends.',
  },
  {
    ...{ tab: 'static', list: 'static-roles', to: '/database/$mount/static/$name', label: 'Static roles', create: 'New static role' },
    empty: 'A static role rotates the password of a user that the database already has.',
  },
];

/** A database mount: connections, roles, static roles, and what fails. */
export default function DatabasePage() {
  const { mount = '' } = usePlace().params;
  return (
    <Page title={mount} crumbs={databaseCrumbs(mount).slice(0, 1)}>
      <MountNouns
        at="/database/$mount"
        mount={mount}
        nouns={NOUNS}
        more={[{ tab: 'failing', label: 'Failing', part: <DatabaseFailing mount={mount} /> }]}
      />
    </Page>
  );
}
