import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useAct } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { useStored } from '../../api/use-stored.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { FailingThing, type ShownPlan } from '../../parts/failing-thing.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { RotationChip, type RotationStatus } from '../../parts/rotation-state.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { Settings } from '../../parts/settings.tsx';
import { LdapFrame } from './ldap-frame.tsx';

const FIRST = ['username', 'dn', 'rotation_period', 'rotation_schedule', 'rotation_window'];

/** One account whose password is rotated: its state, the password, and its settings. */
export default function StaticRolePage() {
  const { mount = '', name = '' } = usePlace().params;
  const go = useGo();
  const path = apiPath(mount, 'static-role', name);
  const credential = apiPath(mount, 'static-cred', name);
  const role = useStored(path);
  const rotate = useAct({ method: 'POST', path: apiPath(mount, 'rotate-role', name), stale: [path, credential] });
  const status = role.data?.data?.status as RotationStatus | undefined;
  return (
    <LdapFrame
      title={name}
      section="static"
      item
      beside={status && <RotationChip status={status} />}
      actions={
        status && (
          <>
            <ActionButton
              needs={{ path: `${mount}/rotate-role/${name}`, need: 'update' }}
              loading={rotate.isPending}
              onClick={() => rotate.mutate(undefined)}
            >
              Rotate now
            </ActionButton>
            <DeleteThing
              path={`${mount}/static-role/${name}`}
              name={name}
              label="Delete the role"
              stale={[apiPath(mount, 'static-role')]}
              done={() => go('/ldap/$mount/static', { mount })}
            >
              The account stays in the directory with its current password, which nobody rotates any more. Read the password first if
              somebody needs it.
            </DeleteThing>
          </>
        )
      }
    >
      {rotate.error && <ServerError error={rotate.error} />}
      <Loaded query={role}>
        {({ data }) => (
          <>
            {data && status && (
              <>
                <FailingThing
                  mount={`${mount}/`}
                  kind="rotate-static-role"
                  id={name}
                  plan={data as ShownPlan}
                  lastGood={status.last_success}
                  pausePath={`${mount}/static-role/${name}`}
                  stale={[path, credential]}
                />
                <Credential path={credential} />
              </>
            )}
            <h2>{data ? 'Settings' : 'New role'}</h2>
            {!data && (
              <Text mb="sm" size="sm">
                There is no role “{name}” yet. The password of its account is changed when it is made.
              </Text>
            )}
            <Settings
              path={path}
              needs={{ path: `${mount}/static-role/${name}`, need: ['update', 'create'] }}
              stored={data}
              first={FIRST}
              stale={[path, credential, apiPath(mount, 'static-role')]}
              submit={data ? 'Save' : 'Create the role'}
            />
          </>
        )}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read ${mount}/static-cred/${name}\nstrongroom write -f ${mount}/rotate-role/${name}` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${credential}` },
        ]}
      />
    </LdapFrame>
  );
}

interface Password {
  readonly username: string;
  readonly password?: string;
  readonly last_password?: string;
  readonly ttl: number;
}

/** The password is read when somebody asks for it. */
function Credential({ path }: { readonly path: string }) {
  const read = async (key: 'password' | 'last_password'): Promise<string> => (await send<Password>('GET', path)).data[key] ?? '';
  return (
    <section aria-labelledby="credential-title">
      <h2 id="credential-title">Password</h2>
      <Facts
        facts={[
          { label: 'Current', value: <SecretValue label="password" value={async () => read('password')} /> },
          { label: 'Previous', value: <SecretValue label="previous password" value={async () => read('last_password')} /> },
        ]}
      />
    </section>
  );
}
