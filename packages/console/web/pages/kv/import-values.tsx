import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { recordOf } from './edit-row.ts';
import { readEnv } from './env-file.ts';
import { leavesOf, type Leaf } from './leaves.ts';
import classes from './kv.module.css';

/** Imports values from `.env` or JSON: they replace values of the same key, and leave all others as they are. */
export function ImportValues({ bring }: { readonly bring: (leaves: readonly Leaf[]) => void }) {
  const [opened, setOpened] = useState(false);
  const [text, setText] = useState('');
  const [faults, setFaults] = useState<readonly string[]>([]);
  const close = (): void => {
    setOpened(false);
    setText('');
    setFaults([]);
  };
  const read = (): void => {
    const found = readValues(text);
    if (found.faults.length > 0) return setFaults(found.faults);
    bring(found.leaves);
    close();
  };
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpened(true)}>
        Import .env or JSON
      </Button>
      <Dialog title="Import values" opened={opened} onClose={close} size="lg">
        <Stack>
          <Text size="sm">
            Paste a .env file or a JSON object, or choose a file. Values of the same key are replaced, all others stay. Nothing is saved
            yet.
          </Text>
          <Textarea
            className={classes.mono}
            label="Values"
            minRows={8}
            maxRows={16}
            autosize
            spellCheck={false}
            data-autofocus
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          {faults.length > 0 && (
            <div role="alert">
              {faults.map((fault) => (
                <Text key={fault} size="sm" c="red">
                  {fault}
                </Text>
              ))}
            </div>
          )}
          <Group justify="space-between">
            <FileButton onChange={(file) => void file?.text().then(setText)}>
              {(props) => (
                <Button {...props} variant="default">
                  Choose a file
                </Button>
              )}
            </FileButton>
            <Button onClick={read} disabled={text.trim() === ''}>
              Import
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}

function readValues(text: string): { readonly leaves: readonly Leaf[]; readonly faults: readonly string[] } {
  if (!text.trimStart().startsWith('{')) return readEnv(text);
  try {
    return { leaves: leavesOf(recordOf(text)), faults: [] };
  } catch (error) {
    return { leaves: [], faults: [(error as Error).message] };
  }
}
