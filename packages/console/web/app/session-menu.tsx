import { Button, Group, Menu, Stack, Text } from '@mantine/core';
import { IconChevronDown, IconKeyboard, IconLock, IconLogout, IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { duration } from '../parts/durations.ts';
import { useGo } from '../parts/place.ts';
import { useNow } from '../parts/use-now.ts';
import { cover, endSession, renewSession, stopRenewing, useSession } from './session.ts';

/** Who is logged in and for how long; renew, lock, log out. */
export function SessionMenu({ keys }: { readonly keys: () => void }) {
  const { holder, way } = useSession();
  const now = useNow(1000);
  const go = useGo();
  const [asking, setAsking] = useState(false);
  const left = holder?.ends === undefined ? undefined : duration(Math.max(0, (holder.ends - now) / 1000));
  const leave = async (revoke: boolean): Promise<void> => {
    await endSession({ revoke });
    go('/login');
  };
  const logOut = (): void => (way?.method === 'token' ? setAsking(true) : void leave(true));
  const name = holder?.name || 'token';
  return (
    <>
      <Menu position="bottom-end" withinPortal={false} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            rightSection={<IconChevronDown size={14} aria-hidden />}
            aria-label={`Session of ${name}${left === undefined ? '' : `, ${left} left`}`}
          >
            {left ?? name}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {name}
            {left !== undefined && ` · ${left} left`}
          </Menu.Label>
          {holder && holder.policies.length > 0 && <Menu.Label>Policies: {holder.policies.join(', ')}</Menu.Label>}
          {holder?.renewable && (
            <Menu.Item leftSection={<IconRefresh size={15} />} onClick={() => void renewSession().catch(stopRenewing)}>
              Renew
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconKeyboard size={15} />} onClick={keys}>
            Keys
          </Menu.Item>
          <Menu.Item leftSection={<IconLock size={15} />} onClick={() => cover('locked')}>
            Lock
          </Menu.Item>
          <Menu.Item leftSection={<IconLogout size={15} />} onClick={logOut}>
            Log out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog title="Log out" opened={asking} onClose={() => setAsking(false)}>
        <Stack>
          <Text size="sm">
            You pasted this token, so it may be in use elsewhere. Revoking ends it, and every lease that was issued with it.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={() => void leave(false)}>
              Forget it here
            </Button>
            <Button color="red" onClick={() => void leave(true)}>
              Revoke it
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}
