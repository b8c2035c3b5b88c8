import { Button, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { beginSession } from '../../app/session.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useAddresses, useGo } from '../../parts/place.ts';
import { Card } from './card.tsx';
import type { LoginAnswer, SecondFactor } from './send-login.ts';
import { pageAfterLogin } from './page-after-login.ts';
import { channelOf, completeOidc, takeOidc, type ProviderAnswer } from './oidc-login.ts';
import { SecondFactorForm } from './second-factor-form.tsx';

type Outcome =
  | { readonly kind: 'working' }
  | { readonly kind: 'relayed' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: ApiError }
  | { readonly kind: 'factor'; readonly factor: SecondFactor; readonly mount: string; readonly to: string };

/** What the provider sent, taken out of the address before anything else happens with it. */
let sent: ProviderAnswer | undefined;

/** Where an identity provider sends people back to. */
export default function CallbackPage() {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'working' });
  const addresses = useAddresses();
  const go = useGo();
  const enter = async (answer: LoginAnswer, mount: string, to: string): Promise<void> => {
    if ('factor' in answer) {
      setOutcome({ kind: 'factor', factor: answer.factor, mount, to });
      return;
    }
    await beginSession(answer.auth.client_token, { method: mount }, answer.auth);
    addresses.replace(`/ui${pageAfterLogin(to)}`);
  };
  useEffect(() => {
    const answer = (sent ??= takeAnswer());
    // In development each effect runs twice.
    const timer = setTimeout(() => {
      sent = undefined;
      const kept = takeOidc(answer.state);
      if (!kept || kept.popup) {
        void relay(answer).then((heard) => {
          setOutcome({ kind: heard ? 'relayed' : 'unknown' });
          if (heard) window.close();
        });
        return;
      }
      completeOidc(kept, answer)
        .then(async (login) => enter(login, kept.mount, kept.to))
        .catch((error: unknown) => {
          if (error instanceof ApiError) setOutcome({ kind: 'failed', error });
          else throw error;
        });
    });
    return () => clearTimeout(timer);
    // Once: the answer is used up.
  }, []);
  return (
    <Card title={outcome.kind === 'relayed' ? 'You are logged in' : 'Log in'}>
      {outcome.kind === 'working' && <Text role="status">Completing the login…</Text>}
      {outcome.kind === 'relayed' && <Text size="sm">The other window goes on. You can close this one.</Text>}
      {outcome.kind === 'unknown' && (
        <Stack>
          <Text size="sm">This tab has not begun this login, or it took longer than ten minutes. Start again.</Text>
          <Button onClick={() => go('/login')}>Log in</Button>
        </Stack>
      )}
      {outcome.kind === 'failed' && (
        <Stack>
          <ServerError error={outcome.error} />
          <Button onClick={() => go('/login')}>Start again</Button>
        </Stack>
      )}
      {outcome.kind === 'factor' && (
        <SecondFactorForm
          factor={outcome.factor}
          accept={async (answer) => enter(answer, outcome.mount, outcome.to)}
          again={() => go('/login')}
        />
      )}
    </Card>
  );
}

function takeAnswer(): ProviderAnswer {
  const query = new URLSearchParams(location.search);
  history.replaceState(history.state, '', location.pathname);
  const field = (name: string): string => query.get(name) ?? '';
  return {
    state: field('state'),
    code: field('code'),
    iss: field('iss'),
    error: field('error'),
    error_description: field('error_description'),
  };
}

/** Hands the answer to the window that began the login. False when nobody takes it. */
async function relay(answer: ProviderAnswer): Promise<boolean> {
  if (answer.state === '') return false;
  const channel = channelOf(answer.state);
  const taken = new Promise<boolean>((resolve) => {
    channel.onmessage = ({ data }) => data === 'taken' && resolve(true);
    setTimeout(() => resolve(false), 2_000);
  });
  channel.postMessage(answer);
  const heard = await taken;
  channel.close();
  return heard;
}
