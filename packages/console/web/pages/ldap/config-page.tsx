import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import { makeStale, queryClient } from '../../api/queries.ts';
import { useStored } from '../../api/use-stored.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Facts } from '../../parts/facts.tsx';
import { FailingThing } from '../../parts/failing-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../parts/place.ts';
import type { RotationStatus } from '../../parts/rotation-state.tsx';
import { Settings } from '../../parts/settings.tsx';
import { LdapFrame } from './ldap-frame.tsx';

const FIRST = ['url', 'schema', 'binddn', 'bindpass', 'self_managed', 'userdn', 'userattr', 'starttls', 'certificate', 'password_policy'];
/** Of logins; this engine only stores them. */
const OF_LOGINS = [
  'userfilter',
  'discoverdn',
  'deny_null_bind',
  'groupdn',
  'groupfilter',
  'groupattr',
  'anonymous_group_search',
  'use_token_groups',
  'username_as_alias',
  'case_sensitive_names',
  'dereference_aliases',
  'max_page_size',
  'use_pre111_group_cn_behavior',
];
const STAGES = ['connect', 'tls', 'service bind', 'user search', 'password'];
/** Without a service account. */
const OWN_STAGES = ['connect', 'tls', 'account bind', 'user search', 'password'];

/** How the directory is reached, with a test beside it, and the rotation of the managing account. */
export default function ConfigPage() {
  const { mount = '' } = usePlace().params;
  const path = apiPath(mount, 'config');
  const stored = useStored(path);
  return (
    <LdapFrame title="Configuration" section="config">
      <Loaded query={stored}>
        {({ data }) => (
          <>
            {!data && (
              <Text mb="md" maw={680}>
                Nothing is configured yet. Fill in how the directory is reached, test it beside the form, and save when all stages pass.
              </Text>
            )}
            <Settings
              path={path}
              needs={{ path: `${mount}/config`, need: ['update', 'create'] }}
              stored={data}
              first={FIRST}
              without={OF_LOGINS}
              stale={[path]}
              test={{
                path: apiPath(mount, 'config', 'test'),
                needs: { path: `${mount}/config/test`, need: 'update', sudo: true },
                fields: data?.self_managed === true ? ['username', 'dn', 'password'] : ['username', 'dn'],
                stages: data?.self_managed === true ? OWN_STAGES : STAGES,
              }}
            />
            {data && data.self_managed !== true && <Root mount={mount} config={data} />}
          </>
        )}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read ${mount}/config\nstrongroom write ${mount}/config/test username=billing` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${path}` },
        ]}
      />
    </LdapFrame>
  );
}

function Root({ mount, config }: { readonly mount: string; readonly config: Readonly<Record<string, unknown>> }) {
  const path = apiPath(mount, 'config');
  const status = config.root_rotation as RotationStatus | undefined;
  return (
    <section aria-labelledby="root-title">
      <h2 id="root-title">The managing account</h2>
      <Text size="sm" mb="sm" maw={680}>
        {String(config.binddn)} manages the accounts of this mount. After a rotation only this server knows its password.
      </Text>
      <FailingThing mount={`${mount}/`} kind="rotate-root" id="ldap" lastGood={status?.last_success} stale={[path]} />
      {status?.login !== undefined && (
        <Facts facts={[{ label: 'Login with the new password', value: status.login.replaceAll('_', ' ') }]} />
      )}
      <ConfirmAction
        label="Rotate its password"
        needs={{ path: `${mount}/rotate-root`, need: 'update' }}
        act={async () => {
          await send('POST', apiPath(mount, 'rotate-root'));
          await makeStale(queryClient, [path]);
        }}
      >
        Nobody but this server will know the password of {String(config.binddn)} any more. Whatever else logs in with it stops working.
      </ConfirmAction>
    </section>
  );
}
