import { useSyncExternalStore } from 'react';
import { ApiError } from './api-error.ts';
import { meetForeignServer } from './own-routes.ts';
import { send } from './send.ts';

/** What the operator configured for every page, as `sys/internal/ui/config` tells it. */
export interface ConsoleSettings {
  readonly banner: string;
  readonly idle_minutes: number;
  readonly show_seconds: number;
  readonly default_method: string;
  readonly session: 'tab' | 'memory';
}

let settings: ConsoleSettings = { banner: '', idle_minutes: 15, show_seconds: 30, default_method: '', session: 'tab' };
const listeners = new Set<() => void>();

let loading: Promise<void> | undefined;

/** Asks the server once; a server that knows no such path leaves the defaults. */
export function loadSettings(): Promise<void> {
  return (loading ??= load());
}

async function load(): Promise<void> {
  const answer = await send<Partial<ConsoleSettings>>('GET', 'sys/internal/ui/config', { token: null }).catch((error: unknown) => {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) meetForeignServer();
    // Sealed, or out of reach: the next page asks again.
    else loading = undefined;
  });
  if (!answer) return;
  settings = { ...settings, ...answer.data };
  for (const listener of listeners) listener();
}

export function currentSettings(): ConsoleSettings {
  return settings;
}

export function useConsoleSettings(): ConsoleSettings {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, currentSettings);
}
