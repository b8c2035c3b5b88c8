import { Button, Group, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { useGo } from '../parts/place.ts';
import { currentSession, forget, useSession, type Covered } from './session.ts';

const LoginChoice = lazy(async () => ({ default: (await import('../pages/login/login-choice.tsx')).LoginChoice }));

/** A login over the page, whose drafts stay. Whoever logs in as somebody else gets the home page instead. */
export function CoverLogin({ reason }: { readonly reason: Covered }) {
  const { way, holder, turn } = useSession();
  const go = useGo();
  const leave = (): void => {
    forget();
    go('/login');
  };
  const done = (): void => {
    if (currentSession().turn !== turn) go('/');
  };
  const who = holder?.name ? ` as ${holder.name}` : '';
  return (
    <Dialog title={reason === 'locked' ? 'Locked' : 'Your login has ended'} opened onClose={leave} lasting>
      <Stack>
        <Text size="sm">
          {reason === 'locked'
            ? `Nobody was here for a while. Log in again${who}: what you had typed is still here.`
            : `Log in again${who}: the page and what you had typed stay as they are.`}
        </Text>
        <Suspense fallback={null}>
          <LoginChoice first={way?.method} to="/" done={done} inPlace />
        </Suspense>
        <Group justify="flex-end">
          <Button variant="subtle" size="xs" onClick={leave}>
            Give up this page
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
