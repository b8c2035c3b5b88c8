import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { duration } from '../../parts/durations.ts';
import { EditButton } from '../../parts/edit-button.tsx';
import type { ShownPlan } from '../../parts/failing-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { StaticRole } from '../../parts/static-role.tsx';
import { When } from '../../parts/when.tsx';
import { ConnectionLink } from './connection-link.tsx';
import { databaseCrumbs } from './crumbs.tsx';
import { Statements } from './statements.tsx';

interface Role extends ShownPlan {
  readonly db_name: string;
  readonly username: string;
  readonly credential_type: string;
  readonly rotation_statements: readonly string[];
  readonly last_vault_rotation: string | null;
}

/** A static role: a user that stays, and how the rotation of its password stands. */
export default function StaticRolePage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const go = useGo();
  const role = useRead<Role>(apiPath(mount, 'static-roles', name));
  return (
    <Page
      title={name}
      crumbs={databaseCrumbs(mount, 'static')}
      actions={
        <EditButton
          path={`${mount}/static-roles/${name}`}
          to="/database/$mount/edit/$noun"
          params={{ mount, noun: 'static' }}
          search={{ name }}
        />
      }
    >
      <Loaded query={role}>
        {({ data }) => (
          <StaticRole
            mount={mount}
            name={name}
            plan={data}
            lastGood={data.last_vault_rotation}
            show={{ label: 'Show the current credential', plain: PLAIN }}
            facts={[
              { label: 'User', value: data.username },
              { label: 'Connection', value: <ConnectionLink mount={mount} name={data.db_name} /> },
              { label: 'Credential', value: data.credential_type.replaceAll('_', ' ') },
              { label: 'Rotated every', value: data.rotation_period ? duration(data.rotation_period) : undefined },
              { label: 'Schedule (UTC)', value: data.rotation_schedule },
              { label: 'Last rotation', value: <When time={data.last_vault_rotation} /> },
            ]}
            details={<Statements label="Rotation statements" statements={data.rotation_statements} />}
            rotation="The password changes at once. Whoever keeps a copy of the old one must read the new one."
            loss={`The user ${data.username} stays in the database with the password that it has, and this server no longer has that password.`}
            deleted={() => go('/database/$mount', { mount }, { tab: 'static' })}
          />
        )}
      </Loaded>
    </Page>
  );
}

/** What the answer with a current credential holds beside the secret. */
const PLAIN = [
  ...['username', 'ttl', 'rotation_period', 'rotation_schedule', 'rotation_window', 'disable_automated_rotation', 'last_vault_rotation'],
  'private_key_type',
];
