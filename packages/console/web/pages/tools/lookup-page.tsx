import { PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { send } from '../../api/send.ts';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { When } from '../../parts/when.tsx';
import { ToolForm } from './tool-form.tsx';
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
  const look = async (): Promise<void> => {
    setFound(undefined);
    setFound((await send<LookedUp>('POST', 'sys/wrapping/lookup', { body: { token } })).data);
  };
  return (
    <ToolPage title="Look up a wrapping token" tool="/tools/lookup">
      <ToolForm
        button="Look up"
        disabled={token === ''}
        run={look}
        result={
          found && (
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
          )
        }
      >
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
      </ToolForm>
    </ToolPage>
  );
}
