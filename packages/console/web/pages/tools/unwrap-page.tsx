import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { Json } from '../../api/exact-json.ts';
import { send, type Answer, type WrapInfo } from '../../api/send.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { Facts } from '../../parts/facts.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { leavesOf, pathText, valueText } from '../kv/leaves.ts';
import { takeFragmentToken } from './fragment-token.ts';
import { ToolPage } from './tool-page.tsx';
import { WrappedToken } from './wrapped-token.tsx';

/** Unwraps a token, from a link or from the field. It needs a click: whoever only looks at a link must not use it up. */
export default function UnwrapPage() {
  const [token, setToken] = useState(takeFragmentToken);
  const [answer, setAnswer] = useState<Answer>();
  const [rewrapped, setRewrapped] = useState<WrapInfo>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const ask = async (act: () => Promise<void>): Promise<void> => {
    setError(undefined);
    setBusy(true);
    try {
      await act();
      setToken('');
    } catch (caught) {
      setError(caught as ApiError);
    } finally {
      setBusy(false);
    }
  };
  const unwrap = async (): Promise<void> =>
    ask(async () => setAnswer(await send('POST', 'sys/wrapping/unwrap', { body: {}, token, exact: true })));
  const rewrap = async (): Promise<void> =>
    ask(async () => setRewrapped((await send('POST', 'sys/wrapping/rewrap', { body: { token }, token })).wrapInfo ?? undefined));
  return (
    <ToolPage title="Unwrap" tool="/tools/unwrap">
      {answer ? (
        <Unwrapped
          answer={answer}
          done={() => {
            setAnswer(undefined);
          }}
        />
      ) : rewrapped ? (
        <WrappedToken wrapped={rewrapped} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void unwrap();
          }}
        >
          <Stack>
            <Text size="sm">A wrapping token works once: what it holds is shown here, and the token is gone.</Text>
            <PasswordInput
              label="Wrapping token"
              autoComplete="off"
              value={token}
              onChange={({ currentTarget }) => setToken(currentTarget.value.trim())}
            />
            {error && (
              <>
                <ServerError error={error} />
                <Text size="sm">
                  A token that was unwrapped before, or that has ended, is answered like this. If you were the one to unwrap it, tell
                  whoever sent it: somebody else may have the data.
                </Text>
              </>
            )}
            <Group>
              <Button type="submit" loading={busy} disabled={token === ''}>
                Unwrap
              </Button>
              <Button variant="default" disabled={busy || token === ''} onClick={() => void rewrap()}>
                Rewrap
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </ToolPage>
  );
}

function Unwrapped({ answer, done }: { readonly answer: Answer; readonly done: () => void }) {
  const held = (answer.auth ? { ...answer.data, auth: answer.auth } : answer.data) as unknown as Record<string, Json>;
  const leaves = leavesOf(held);
  return (
    <Stack>
      <Alert color="blue" variant="light" title="Shown once">
        The token is used up. Keep what you need before you leave this page.
      </Alert>
      {leaves.length === 0 ? (
        <Text>The token held no data.</Text>
      ) : (
        <Facts
          facts={leaves.map(({ path, value }) => ({
            label: pathText(path),
            value: <SecretValue label={pathText(path)} value={valueText(value)} />,
          }))}
        />
      )}
      <Group>
        <CopyButton secret value={() => JSON.stringify(held, null, 2)} label="Copy all as JSON" />
        <Button size="xs" variant="default" onClick={done}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
