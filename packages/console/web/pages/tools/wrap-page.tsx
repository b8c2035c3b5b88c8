import { Button, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { isRecord, readExact, type Json } from '../../api/exact-json.ts';
import { send, type WrapInfo } from '../../api/send.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { ToolForm } from './tool-form.tsx';
import { ToolPage } from './tool-page.tsx';
import { WrappedToken } from './wrapped-token.tsx';
import classes from './tools.module.css';

/** Puts data behind a token that works once. */
export default function WrapPage() {
  const { draft: text, change, drop } = useDraft('wrap', '');
  const [ttl, setTtl] = useState('30m');
  const [fault, setFault] = useState<string>();
  const [wrapped, setWrapped] = useState<WrapInfo>();
  const wrap = async (): Promise<void> => {
    const data = objectOf(text);
    if (!data) return setFault('This is no JSON object: { "key": "value" }.');
    const { wrapInfo } = await send('POST', 'sys/wrapping/wrap', { body: data, wrapTtl: ttl });
    setWrapped(wrapInfo ?? undefined);
    drop();
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
      <ToolForm button="Wrap" needs={{ path: 'sys/wrapping/wrap', need: 'update' }} disabled={text.trim() === ''} run={wrap}>
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
            change(currentTarget.value);
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
      </ToolForm>
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
