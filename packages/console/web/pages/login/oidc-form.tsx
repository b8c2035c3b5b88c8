import { Anchor, Button, Code, Group, Loader, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useState, type FormEvent } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { ServerError } from '../../parts/server-error.tsx';
import type { LoginAnswer } from './send-login.ts';
import type { LoginMethod } from './login-method.ts';
import { beginOidc, channelOf, completeOidc, keepOidc, pollOidc, type BegunLogin, type ProviderAnswer } from './oidc-login.ts';
import { useAttempt } from '../../parts/use-attempt.ts';

interface OidcFormProps {
  readonly method: LoginMethod;
  readonly to: string;
  readonly accept: (answer: LoginAnswer) => Promise<void>;
  readonly inPlace: boolean;
}

/** A login at an identity provider: in this tab, in a window of its own, or confirmed on another device. */
export function OidcForm({ method, to, accept, inPlace }: OidcFormProps) {
  const [role, setRole] = useState('');
  const [elsewhere, setElsewhere] = useState<BegunLogin>();
  const [popup, setPopup] = useState<BegunLogin>();
  const { busy, error, attempt } = useAttempt();
  const begin = (window_: Window | null): void =>
    void attempt(async () => {
      const begun = await beginOidc(method, role.trim()).catch((caught: unknown) => {
        window_?.close();
        throw caught;
      });
      if (begun.pollSeconds !== undefined) {
        window_?.close();
        setElsewhere(begun);
      } else if (window_) {
        keepOidc(begun, { to, popup: true });
        window_.location.href = begun.url;
        setPopup(begun);
      } else {
        keepOidc(begun, { to, popup: false });
        location.assign(begun.url);
      }
    });
  if (elsewhere) return <Elsewhere begun={elsewhere} accept={accept} cancel={() => setElsewhere(undefined)} />;
  if (popup) return <InWindow begun={popup} accept={accept} cancel={() => setPopup(undefined)} />;
  // The window must open at the click itself, or browsers block it.
  const openWindow = (): void => begin(window.open('about:blank', '_blank', 'popup,width=520,height=680'));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (inPlace) openWindow();
    else begin(null);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          You log in at the identity provider and come back here.
        </Text>
        <TextInput
          label="Role"
          description="Left out, the default role of the mount."
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={role}
          onChange={({ currentTarget }) => setRole(currentTarget.value)}
        />
        {error && <ServerError error={error} />}
        <Button type="submit" loading={busy}>
          {inPlace ? 'Log in in a window' : 'Log in'}
        </Button>
        {!inPlace && (
          <Button variant="subtle" disabled={busy} onClick={openWindow}>
            Log in in a window of its own
          </Button>
        )}
      </Stack>
    </form>
  );
}

interface WaitingProps {
  readonly begun: BegunLogin;
  readonly accept: (answer: LoginAnswer) => Promise<void>;
  readonly cancel: () => void;
}

/** Waits for the answer that the window of the provider relays. */
function InWindow({ begun, accept, cancel }: WaitingProps) {
  const { error, attempt } = useAttempt();
  useEffect(() => {
    const channel = channelOf(begun.state);
    channel.onmessage = ({ data }: MessageEvent<ProviderAnswer | 'taken'>) => {
      if (data === 'taken') return;
      channel.postMessage('taken');
      void attempt(async () => accept(await completeOidc(begun, data)));
    };
    return () => channel.close();
    // The login is one: its functions may change with each drawing of the page.
  }, [begun]);
  return (
    <Stack>
      {!error && <Waiting text="Complete the login in the other window." />}
      {error && <ServerError error={error} />}
      <Button variant="default" onClick={cancel}>
        {error ? 'Start again' : 'Cancel'}
      </Button>
    </Stack>
  );
}

/** Polls for a login that is confirmed on another device, or in another page. */
function Elsewhere({ begun, accept, cancel }: WaitingProps) {
  const [failed, setFailed] = useState<ApiError>();
  useEffect(() => {
    let seconds = begun.pollSeconds ?? 5;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const ask = async (): Promise<void> => {
      try {
        const answer = await pollOidc(begun);
        if (ended) return;
        if (typeof answer === 'object') await accept(answer);
        else {
          if (answer === 'slower') seconds += 5;
          timer = setTimeout(() => void ask(), seconds * 1000);
        }
      } catch (caught) {
        if (caught instanceof ApiError) setFailed(caught);
        else throw caught;
      }
    };
    timer = setTimeout(() => void ask(), seconds * 1000);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
    // As above.
  }, [begun]);
  return (
    <Stack>
      <Text size="sm">
        Open{' '}
        <Anchor href={begun.url} target="_blank" rel="noreferrer noopener">
          the page of the identity provider
        </Anchor>{' '}
        on any device, and confirm there.
      </Text>
      {begun.userCode !== undefined && (
        <div>
          <Text size="sm" id="user-code">
            Confirm only if it shows this code:
          </Text>
          <Code fz="h3" aria-labelledby="user-code">
            {begun.userCode}
          </Code>
        </div>
      )}
      {failed ? <ServerError error={failed} /> : <Waiting text="Waiting for the confirmation." />}
      <Button variant="default" onClick={cancel}>
        {failed ? 'Start again' : 'Cancel'}
      </Button>
    </Stack>
  );
}

function Waiting({ text }: { readonly text: string }) {
  return (
    <Group gap="sm" role="status">
      <Loader size="sm" aria-hidden />
      <Text size="sm">{text}</Text>
    </Group>
  );
}
