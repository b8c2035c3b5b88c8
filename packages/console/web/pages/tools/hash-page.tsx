import { Checkbox, Code, Group, NativeSelect, Textarea } from '@mantine/core';
import { useState } from 'react';
import { send } from '../../api/send.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ToolForm } from './tool-form.tsx';
import { ToolPage } from './tool-page.tsx';
import classes from './tools.module.css';

const ALGORITHMS = ['sha2-224', 'sha2-256', 'sha2-384', 'sha2-512', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512'];

/** The digest of a text. */
export default function HashPage() {
  const [text, setText] = useState('');
  const [isBase64, setBase64] = useState(false);
  const [algorithm, setAlgorithm] = useState('sha2-256');
  const [format, setFormat] = useState('hex');
  const [sum, setSum] = useState<string>();
  const digest = async (): Promise<void> => {
    setSum(undefined);
    const input = isBase64 ? text.trim() : base64Of(text);
    setSum((await send<{ sum: string }>('POST', 'sys/tools/hash', { body: { input, algorithm, format } })).data.sum);
  };
  return (
    <ToolPage title="Hash" tool="/tools/hash">
      <ToolForm
        button="Hash"
        needs={{ path: 'sys/tools/hash', need: 'update' }}
        run={digest}
        result={
          sum !== undefined && (
            <Group gap={6} role="status">
              <Code>{sum}</Code>
              <CopyButton icon value={sum} label="Copy the digest" />
            </Group>
          )
        }
      >
        <Textarea
          className={classes.mono}
          label="Data"
          autosize
          minRows={4}
          maxRows={20}
          spellCheck={false}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Checkbox label="The data is base64" checked={isBase64} onChange={({ currentTarget }) => setBase64(currentTarget.checked)} />
        <Group>
          <NativeSelect
            label="Algorithm"
            data={ALGORITHMS}
            value={algorithm}
            onChange={({ currentTarget }) => setAlgorithm(currentTarget.value)}
          />
          <NativeSelect
            label="Written as"
            data={['hex', 'base64']}
            value={format}
            onChange={({ currentTarget }) => setFormat(currentTarget.value)}
          />
        </Group>
      </ToolForm>
    </ToolPage>
  );
}

function base64Of(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}
