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
  /** Absent where it has a pair. */
  readonly username?: string;
  readonly usernames?: readonly string[];
  /** Seconds. */
  readonly grace_period?: number;
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
              data.usernames ? { label: 'Users in turns', value: data.usernames.join(', ') } : { label: 'User', value: data.username },
              { label: 'Connection', value: <ConnectionLink mount={mount} name={data.db_name} /> },
              { label: 'Credential', value: data.credential_type.replaceAll('_', ' ') },
              { label: 'Rotated every', value: data.rotation_period ? duration(data.rotation_period) : undefined },
              { label: 'Schedule (UTC)', value: data.rotation_schedule },
              { label: 'Last rotation', value: <When time={data.last_vault_rotation} /> },
              data.grace_period ? { label: 'The previous password stays', value: duration(data.grace_period) } : undefined,
            ]}
            details={<Statements label="Rotation statements" statements={data.rotation_statements} />}
            rotation={rotationOf(data)}
            loss={lossOf(data)}
            deleted={() => go('/database/$mount', { mount }, { tab: 'static' })}
          />
        )}
      </Loaded>
    </Page>
  );
}

function rotationOf({ usernames, grace_period: grace }: Role): string {
  if (usernames) return 'The other user of the pair gets a new password and is handed out. The present one works until the next rotation.';
  if (grace) return `The password changes. The present one works for ${duration(grace)} more.`;
  return 'The password changes at once. Whoever keeps a copy of the old one must read the new one.';
}

function lossOf({ username, usernames }: Role): string {
  if (usernames)
    return `The users ${usernames.join(' and ')} stay in the database with the passwords that they have, and this server no longer has those.`;
  return `The user ${username} stays in the database with the password that it has, and this server no longer has that password.`;
}

/** What the answer with a current credential holds beside the secret. */
const PLAIN = [
  ...['username', 'ttl', 'rotation_period', 'rotation_schedule', 'rotation_window', 'disable_automated_rotation', 'last_vault_rotation'],
  'private_key_type',
  'previous',
];
