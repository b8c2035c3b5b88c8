import { useSyncExternalStore } from 'react';
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

/** Asks the server once; a server that knows no such path leaves the defaults. */
export async function loadSettings(): Promise<void> {
  const answer = await send<Partial<ConsoleSettings>>('GET', 'sys/internal/ui/config', { token: null }).catch(() => undefined);
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
