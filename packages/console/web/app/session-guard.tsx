import { Button, Group, Text } from '@mantine/core';
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { useConsoleSettings } from '../api/console-settings.ts';
import { isUnknownToken } from '../api/refused-token.ts';
import { Countdown } from '../parts/countdown.tsx';
import { drafts } from '../parts/drafts.ts';
import { Stowed } from '../parts/stowed.tsx';
import { useNow } from '../parts/use-now.ts';
import classes from './session-guard.module.css';
import { hearTabs, tellTabs } from './session-channel.ts';
import { cover, currentSession, learnHolder, leaveWithOthers, renewSession, stopRenewing, useSession, type Holder } from './session.ts';
import { sessionStep, WARNING } from './session-step.ts';

const CoverLogin = lazy(async () => ({ default: (await import('./cover-login.tsx')).CoverLogin }));

/** How often tabs tell each other that somebody is at work. Milliseconds. */
const TELL = 20_000;
/** How often the server is asked whose token it is, while it does not answer. Milliseconds. */
const LEARN = 5_000;
/** A token of which the server has not told anything yet. */
const UNKNOWN = { since: 0, ends: undefined, renewable: false };

/** Watches over the session of the page below: renews it, warns of its end, locks it, and covers the page with a login when it is over. */
export function SessionGuard({ children }: { readonly children: ReactNode }) {
  const { token, holder, covered } = useSession();
  useEffect(() => {
    if (token === undefined || holder !== undefined) return undefined;
    void learnHolder();
    const timer = setInterval(() => void learnHolder(), LEARN);
    return () => clearInterval(timer);
  }, [token, holder]);
  useWatch();
  useEffect(() => {
    // A reload would lose what was typed, on this page and on those that were left.
    const ask = (event: BeforeUnloadEvent): void => {
      if (drafts.any) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return (
    <>
      {covered && (
        <Suspense fallback={null}>
          <CoverLogin reason={covered} />
        </Suspense>
      )}
      <Stowed away={covered === 'locked'} inert={covered !== undefined}>
        {children}
      </Stowed>
    </>
  );
}

/** Does what is due: once a second, and whenever the tab is seen again. */
function useWatch(): void {
  const { idle_minutes } = useConsoleSettings();
  const lastInput = useRef(Date.now());
  const renewing = useRef(false);
  useEffect(() => {
    let told = 0;
    const input = (): void => {
      lastInput.current = Date.now();
      if (lastInput.current - told < TELL) return;
      told = lastInput.current;
      tellTabs('active');
    };
    const events = ['pointerdown', 'keydown', 'wheel'] as const;
    for (const event of events) document.addEventListener(event, input, { capture: true, passive: true });
    const deaf = hearTabs((word) => {
      if (word === 'active') lastInput.current = Date.now();
      else if (word === 'lock') cover('locked');
      else leaveWithOthers();
    });
    return () => {
      deaf();
      for (const event of events) document.removeEventListener(event, input, { capture: true });
    };
  }, []);
  useEffect(() => {
    const look = (): void => {
      const { holder, token } = currentSession();
      if (token === undefined) return;
      const step = sessionStep(holder ?? UNKNOWN, { now: Date.now(), lastInput: lastInput.current, idle: idle_minutes * 60_000 });
      if (step === 'over') cover('over');
      else if (step === 'lock') cover('locked');
      else if (step === 'renew' && !renewing.current) {
        renewing.current = true;
        renewSession()
          .catch((error: unknown) => {
            if (!(error instanceof ApiError)) throw error;
            // An outage is no refusal: the next second tries again.
            if (error.status >= 400 && error.status < 500 && !isUnknownToken(error)) stopRenewing();
          })
          .finally(() => (renewing.current = false));
      }
    };
    const timer = setInterval(look, 1000);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [idle_minutes]);
}

/** What everybody must know on every page: the operator's banner, a root token, an end that is near. */
export function SessionBars() {
  const { holder } = useSession();
  const { banner } = useConsoleSettings();
  if (banner === '' && !holder?.root && holder?.uses === undefined && holder?.ends === undefined) return null;
  return (
    <aside aria-label="Notices">
      {banner !== '' && (
        <div className={classes.banner} role="note">
          {banner}
        </div>
      )}
      {holder?.root && (
        <div className={classes.root} role="note">
          You use a root token: nothing is refused, and no entity is named in the audit log.
        </div>
      )}
      {holder?.uses !== undefined && (
        <div className={classes.root} role="note">
          The server counts the calls of this token. The console makes several for each page.
        </div>
      )}
      {holder?.ends !== undefined && <EndBar holder={holder} ends={holder.ends} />}
    </aside>
  );
}

function EndBar({ holder, ends }: { readonly holder: Holder; readonly ends: number }) {
  const now = useNow(1000);
  const [failed, setFailed] = useState('');
  if (ends - now > WARNING || ends <= now) return null;
  const renew = (): void =>
    void renewSession().catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setFailed(error.message);
    });
  return (
    <div className={classes.end} role="alert">
      <Text size="sm">
        Your login ends: <Countdown until={ends} />. {failed}
      </Text>
      <Group gap="xs">
        {holder.renewable && (
          <Button size="compact-sm" variant="default" onClick={renew}>
            Renew
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={() => cover('over')}>
          Log in again
        </Button>
      </Group>
    </div>
  );
}
