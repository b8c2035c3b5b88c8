import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { duration } from '../../parts/durations.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { To } from '../../parts/to.tsx';
import { StandingWarning, TokenFacts, type TokenData } from './token-facts.tsx';

/** The token of an accessor: what it may do, until when, and how it ends. */
export default function TokenPage() {
  const accessor = usePlace().params.accessor ?? '';
  const go = useGo();
  const client = useQueryClient();
  const token = useRead<TokenData>('auth/token/lookup-accessor', { method: 'POST', body: { accessor } });
  const [error, setError] = useState<ApiError>();
  const found = token.data?.data;
  const renew = async (): Promise<void> => {
    setError(undefined);
    try {
      const { auth } = await send('POST', 'auth/token/renew-accessor', { body: { accessor } });
      notifications.show({ message: `Renewed for ${duration(auth?.lease_duration ?? 0)}.` });
      await makeStale(client, ['auth/token/lookup-accessor']);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    }
  };
  return (
    <Page
      title={found?.display_name || 'Token'}
      crumbs={[
        <To key="all" to="/access/tokens">
          Tokens
        </To>,
      ]}
      actions={
        found && (
          <>
            {found.renewable && (
              <ActionButton variant="default" needs={{ path: 'auth/token/renew-accessor', need: 'update' }} onClick={() => void renew()}>
                Renew
              </ActionButton>
            )}
            <ConfirmAction
              label="Revoke"
              needs={{ path: 'auth/token/revoke-accessor', need: 'update' }}
              act={async () => {
                await send('POST', 'auth/token/revoke-accessor', { body: { accessor } });
                await makeStale(client, ['auth/token/accessors']);
                go('/access/tokens');
              }}
            >
              The token, every token that it made, and every credential that was issued to them end now.
            </ConfirmAction>
          </>
        )
      }
    >
      {error && <ServerError error={error} />}
      <Loaded query={token}>
        {({ data }) => (
          <>
            <StandingWarning token={data} />
            <TokenFacts token={data} />
            <Text size="sm" mt="md">
              <To to="/access/try" search={{ accessor }}>
                Try what this token may do
              </To>
            </Text>
          </>
        )}
      </Loaded>
      <CommandLines
        lines={[{ with: 'CLI', command: `strongroom token lookup -accessor ${accessor}\nstrongroom token revoke -accessor ${accessor}` }]}
      />
    </Page>
  );
}
