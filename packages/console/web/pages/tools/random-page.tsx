import { NativeSelect, NumberInput, Stack } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { ToolPage } from './tool-page.tsx';

/** Random bytes of the server. */
export default function RandomPage() {
  const [bytes, setBytes] = useState<number | string>(32);
  const [format, setFormat] = useState('base64');
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const make = async (): Promise<void> => {
    setError(undefined);
    setMade(undefined);
    try {
      setMade(
        (await send<{ random_bytes: string }>('POST', 'sys/tools/random', { body: { bytes: Number(bytes), format } })).data.random_bytes,
      );
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <ToolPage title="Random bytes" tool="/tools/random">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <Stack>
          <NumberInput label="Bytes" maw={200} min={1} max={131_072} allowDecimal={false} value={bytes} onChange={setBytes} />
          <NativeSelect
            label="Written as"
            maw={200}
            data={['base64', 'hex']}
            value={format}
            onChange={({ currentTarget }) => setFormat(currentTarget.value)}
          />
          {error && <ServerError error={error} />}
          <div>
            <ActionButton size="sm" type="submit" needs={{ path: 'sys/tools/random', need: 'update' }}>
              Make
            </ActionButton>
          </div>
          {made !== undefined && (
            <div role="status">
              <SecretValue key={made} label="random bytes" value={made} />
            </div>
          )}
        </Stack>
      </form>
      <CommandLines lines={[{ with: 'CLI', command: `strongroom write sys/tools/random bytes=${bytes} format=${format}` }]} />
    </ToolPage>
  );
}
