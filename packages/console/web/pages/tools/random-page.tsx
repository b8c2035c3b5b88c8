import { NativeSelect, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { send } from '../../api/send.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { ToolForm } from './tool-form.tsx';
import { ToolPage } from './tool-page.tsx';

/** Random bytes of the server. */
export default function RandomPage() {
  const [bytes, setBytes] = useState<number | string>(32);
  const [format, setFormat] = useState('base64');
  const [made, setMade] = useState<string>();
  const make = async (): Promise<void> => {
    setMade(undefined);
    const { data } = await send<{ random_bytes: string }>('POST', 'sys/tools/random', { body: { bytes: Number(bytes), format } });
    setMade(data.random_bytes);
  };
  return (
    <ToolPage title="Random bytes" tool="/tools/random">
      <ToolForm
        button="Make"
        needs={{ path: 'sys/tools/random', need: 'update' }}
        run={make}
        result={
          made !== undefined && (
            <div role="status">
              <SecretValue key={made} label="random bytes" value={made} />
            </div>
          )
        }
      >
        <NumberInput label="Bytes" maw={200} min={1} max={131_072} allowDecimal={false} value={bytes} onChange={setBytes} />
        <NativeSelect
          label="Written as"
          maw={200}
          data={['base64', 'hex']}
          value={format}
          onChange={({ currentTarget }) => setFormat(currentTarget.value)}
        />
      </ToolForm>
      <CommandLines lines={[{ with: 'CLI', command: `strongroom write sys/tools/random bytes=${bytes} format=${format}` }]} />
    </ToolPage>
  );
}
