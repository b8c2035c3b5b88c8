import { ActionIcon, Text, VisuallyHidden } from '@mantine/core';
import { Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { useMantineColorScheme, useComputedColorScheme } from '@mantine/core';
import { IconMenu2, IconMoon, IconSun } from '@tabler/icons-react';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { useForeign } from '../api/own-routes.ts';
import { SealGate } from '../pages/unseal/seal-gate.tsx';
import { To } from '../parts/to.tsx';
import { useLive } from '../live/use-live.ts';
import { areas } from './areas.ts';
import { useEntryCounts } from './use-entry-counts.ts';
import { ServerState } from './server-state.tsx';
import { usePageKeys } from './use-page-keys.ts';
import { SessionBars, SessionGuard } from './session-guard.tsx';
import classes from './shell.module.css';
import { useSession } from './session.ts';
import { usePaletteKey } from './use-palette-key.ts';

// The login page needs neither, and they bring most of what floats above a page.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const KeysHelp = lazy(async () => ({ default: (await import('./keys-help.tsx')).KeysHelp }));
const SessionMenu = lazy(async () => ({ default: (await import('./session-menu.tsx')).SessionMenu }));

const entries = areas.flatMap((area) => (area.entry ? [area.entry] : [])).sort((a, b) => a.order - b.order);

/** The frame of every page: skip link, header, entries on the left, and the page. */
export function Shell() {
  const session = useSession();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const router = useRouter();
  const left = session.token === undefined && session.covered === undefined;
  const bare = isBare(pathname) || left;
  // The session ended elsewhere: the page's own check leads to the login.
  useEffect(() => {
    if (left && !isBare(pathname)) void router.invalidate();
  }, [left, pathname, router]);
  return (
    <SealGate>
      <SessionGuard key={session.turn}>
        <SessionBars />
        {bare ? <Outlet /> : <Frame pathname={pathname} />}
      </SessionGuard>
    </SealGate>
  );
}

/** Pages that need no session have no entries beside them. */
function isBare(pathname: string): boolean {
  return /^\/(login|init|unseal|vault)(\/|$)/.test(pathname);
}

function Frame({ pathname }: { readonly pathname: string }) {
  useLive();
  const [open, setOpen] = useState(false);
  const [going, setGoing] = useState(false);
  usePaletteKey(useCallback(() => setGoing(true), []));
  const { help, setHelp } = usePageKeys();
  const counts = useEntryCounts();
  const foreign = useForeign();
  // While a page is on its way, the previous one is still shown.
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#page" onClick={skipToPage}>
        Skip to the page
      </a>
      <header className={classes.header}>
        <ActionIcon
          className={classes.burger}
          variant="subtle"
          color="gray"
          aria-label="Menu"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <IconMenu2 size={18} />
        </ActionIcon>
        <To to="/" className={classes.brand}>
          Strongroom
        </To>
        <Suspense fallback={null}>
          <Palette opened={going} setOpened={setGoing} />
        </Suspense>
        <div className={classes.tools}>
          <ServerState />
          <SchemeToggle />
          <Suspense fallback={null}>
            <SessionMenu keys={() => setHelp(true)} />
          </Suspense>
        </div>
      </header>
      <nav className={classes.nav} aria-label="Places" data-open={open}>
        <ul>
          {entries
            .filter(({ own }) => !(own && foreign))
            .map(({ label, to, icon: Icon, owns }) => {
              const current = owns.some((one) => (one === '/' ? pathname === '/' : pathname === one || pathname.startsWith(`${one}/`)));
              return (
                <li key={to}>
                  <To to={to} className={classes.entry} aria-current={current ? 'page' : undefined}>
                    <Icon size={18} stroke={1.6} />
                    <Text span size="sm">
                      {label}
                    </Text>
                    {counts[to] !== undefined && (
                      <span className={classes.count}>
                        {counts[to]}
                        <VisuallyHidden> need a person</VisuallyHidden>
                      </span>
                    )}
                  </To>
                </li>
              );
            })}
        </ul>
      </nav>
      <main className={classes.main} id="page" data-path={shown}>
        <Outlet />
      </main>
      <Suspense fallback={null}>{help && <KeysHelp opened close={() => setHelp(false)} />}</Suspense>
    </div>
  );
}

function skipToPage(event: React.MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#page h1')?.focus();
}

function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'light' ? 'dark' : 'light';
  return (
    <ActionIcon variant="default" size="md" aria-label={`Switch to ${next} colours`} onClick={() => setColorScheme(next)}>
      {scheme === 'light' ? <IconMoon size={16} /> : <IconSun size={16} />}
    </ActionIcon>
  );
}
