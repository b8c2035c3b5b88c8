import { Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useStored } from '../../api/use-stored.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { LdapFrame } from './ldap-frame.tsx';
import { LendingBoard, WaitingBoard } from './lending-board.tsx';
import { boardPaths, giveBack } from './library-accounts.ts';

const FIRST = ['service_account_names', 'ttl', 'max_ttl', 'disable_check_in_enforcement'];

const WAITS = [
  { value: '0', label: 'do not wait' },
  { value: '30s', label: 'wait 30 s' },
  { value: '80s', label: 'wait 80 s' },
];

/** One set: borrow, who has which account, who waits, and its settings. */
export default function LibrarySetPage() {
  const { mount = '', set = '' } = usePlace().params;
  const go = useGo();
  const path = apiPath(mount, 'library', set);
  const stored = useStored(path);
  const exists = stored.data?.data !== undefined;
  const missing = stored.isSuccess && !exists;
  return (
    <LdapFrame
      title={set}
      section="library"
      item
      actions={
        exists && (
          <DeleteThing
            path={`${mount}/library/${set}`}
            name={set}
            label="Delete the set"
            stale={[apiPath(mount, 'library')]}
            done={() => go('/ldap/$mount/library', { mount })}
          >
            The accounts stay in the directory, with passwords that are stored nowhere. A set with lent accounts is refused.
          </DeleteThing>
        )
      }
    >
      {!missing && (
        <Stack gap="lg">
          <Borrow mount={mount} set={set} />
          <section aria-labelledby="board-title">
            <h2 id="board-title">Accounts</h2>
            <Stack gap="sm">
              <LendingBoard mount={mount} set={set} />
              <WaitingBoard mount={mount} set={set} />
            </Stack>
          </section>
        </Stack>
      )}
      <section aria-labelledby="set-settings">
        <h2 id="set-settings">{missing ? 'New set' : 'Settings'}</h2>
        {missing && (
          <Text mb="sm" size="sm">
            There is no set “{set}” yet. Its accounts must be in the directory; their passwords are changed when they are added.
          </Text>
        )}
        <Loaded query={stored}>
          {({ data }) => (
            <Settings
              path={path}
              needs={{ path: `${mount}/library/${set}`, need: ['update', 'create'] }}
              stored={data}
              first={FIRST}
              stale={[path, apiPath(mount, 'library')]}
              submit={data ? 'Save' : 'Create the set'}
            />
          )}
        </Loaded>
      </section>
      <CommandLines
        lines={[
          {
            with: 'CLI',
            command: `strongroom write -f ${mount}/library/${set}/check-out\nstrongroom write -f ${mount}/library/${set}/check-in`,
          },
          {
            with: 'curl',
            command: `curl -X POST -H "X-Vault-Token: $STRONGROOM_TOKEN" -d '{"wait":"30s"}' $STRONGROOM_ADDR/v1/${path}/check-out`,
          },
        ]}
      />
    </LdapFrame>
  );
}

function Borrow({ mount, set }: { readonly mount: string; readonly set: string }) {
  const [ttl, setTtl] = useState('');
  const [wait, setWait] = useState('0');
  return (
    <section aria-labelledby="borrow-title">
      <h2 id="borrow-title">Borrow</h2>
      <Stack gap="sm">
        <Group gap="sm" align="flex-end">
          <TextInput
            size="xs"
            label="For how long"
            placeholder="as the set has it"
            value={ttl}
            autoComplete="off"
            onChange={({ currentTarget }) => setTtl(currentTarget.value)}
          />
          <NativeSelect
            size="xs"
            label="Where none is free"
            data={WAITS}
            value={wait}
            onChange={({ currentTarget }) => setWait(currentTarget.value)}
          />
        </Group>
        <IssuedCredential
          label="Borrow an account"
          method="POST"
          path={apiPath(mount, 'library', set, 'check-out')}
          body={{ ...(ttl.trim() === '' ? {} : { ttl: ttl.trim() }), ...(wait === '0' ? {} : { wait }) }}
          needs={{ path: `${mount}/library/${set}/check-out`, need: ['update', 'create'] }}
          plain={['service_account_name']}
          stale={boardPaths(mount, set)}
          end={{
            label: 'Return the account',
            needs: { path: `${mount}/library/${set}/check-in`, need: ['update', 'create'] },
            act: async ({ data }) => giveBack(mount, set, String(data.service_account_name), false),
          }}
        />
      </Stack>
    </section>
  );
}
