import { Button, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { isRecord, readExact, type Json } from '../../api/exact-json.ts';
import { send, type WrapInfo } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { ToolPage } from './tool-page.tsx';
import { WrappedToken } from './wrapped-token.tsx';
import classes from './tools.module.css';

/** Puts data behind a token that works once. */
export default function WrapPage() {
  const [text, setText] = useState('');
  const [ttl, setTtl] = useState('30m');
  const [fault, setFault] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [wrapped, setWrapped] = useState<WrapInfo>();
  const wrap = async (): Promise<void> => {
    setError(undefined);
    const data = objectOf(text);
    if (!data) return setFault('This is no JSON object: { "key": "value" }.');
    try {
      const { wrapInfo } = await send('POST', 'sys/wrapping/wrap', { body: data, wrapTtl: ttl });
      setWrapped(wrapInfo ?? undefined);
      setText('');
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  if (wrapped) {
    return (
      <ToolPage title="Wrap" tool="/tools/wrap">
        <WrappedToken wrapped={wrapped} />
        <Button mt="md" variant="default" onClick={() => setWrapped(undefined)}>
          Done
        </Button>
      </ToolPage>
    );
  }
  return (
    <ToolPage title="Wrap" tool="/tools/wrap">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void wrap();
        }}
      >
        <Stack>
          <Text size="sm">Puts data behind a token that works once. Whoever unwraps it second learns that somebody was first.</Text>
          <Textarea
            className={classes.mono}
            label="Data, as a JSON object"
            autosize
            minRows={5}
            maxRows={20}
            spellCheck={false}
            value={text}
            error={fault}
            onChange={({ currentTarget }) => {
              setText(currentTarget.value);
              setFault(undefined);
            }}
          />
          <TextInput
            label="Good for"
            description="Such as 30m or 24h."
            maw={200}
            value={ttl}
            onChange={({ currentTarget }) => setTtl(currentTarget.value)}
          />
          {error && <ServerError error={error} />}
          <div>
            <ActionButton size="sm" type="submit" needs={{ path: 'sys/wrapping/wrap', need: 'update' }} disabled={text.trim() === ''}>
              Wrap
            </ActionButton>
          </div>
        </Stack>
      </form>
    </ToolPage>
  );
}

function objectOf(text: string): Readonly<Record<string, Json>> | undefined {
  try {
    const value = readExact(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
