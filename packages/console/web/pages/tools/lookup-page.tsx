import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { send } from '../../api/send.ts';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { When } from '../../parts/when.tsx';
import { ToolPage } from './tool-page.tsx';

interface LookedUp {
  readonly creation_path: string;
  readonly creation_time: string;
  readonly creation_ttl: number;
}

/** What is known of a wrapping token, without using it up. */
export default function LookupPage() {
  const [token, setToken] = useState('');
  const [found, setFound] = useState<LookedUp>();
  const [error, setError] = useState<ApiError>();
  const look = async (): Promise<void> => {
    setError(undefined);
    setFound(undefined);
    try {
      setFound((await send<LookedUp>('POST', 'sys/wrapping/lookup', { body: { token } })).data);
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <ToolPage title="Look up a wrapping token" tool="/tools/lookup">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <Stack>
          <Text size="sm">
            Tells where a wrapping token was made, without using it up. A token that somebody put in the place of another one shows another
            path.
          </Text>
          <PasswordInput
            label="Wrapping token"
            autoComplete="off"
            value={token}
            onChange={({ currentTarget }) => setToken(currentTarget.value.trim())}
          />
          {error && <ServerError error={error} />}
          <div>
            <Button type="submit" disabled={token === ''}>
              Look up
            </Button>
          </div>
          {found && (
            <div role="status">
              <Facts
                facts={[
                  { label: 'Made at', value: found.creation_path },
                  { label: 'Made', value: <When time={found.creation_time} /> },
                  { label: 'Good for', value: duration(found.creation_ttl) },
                  { label: 'Ends', value: <When time={new Date(found.creation_time).getTime() + found.creation_ttl * 1_000} /> },
                ]}
              />
            </div>
          )}
        </Stack>
      </form>
    </ToolPage>
  );
}
