import { useEffect, useState } from 'react';
import { useConsoleSettings } from '../api/console-settings.ts';
import { token } from '../api/token.ts';

/** A secret that somebody asked to see: for as long as the operator configured, and until the session is covered or the page goes to the background. */
export function useShown(value: string | (() => string | Promise<string>)) {
  const { show_seconds: seconds } = useConsoleSettings();
  const [shown, setShown] = useState<string>();
  useEffect(() => {
    if (shown === undefined) return undefined;
    const hide = (): void => setShown(undefined);
    const timer = setTimeout(hide, seconds * 1000);
    const hideInBackground = (): void => void (document.hidden && hide());
    document.addEventListener('visibilitychange', hideInBackground);
    const deaf = token.subscribe((held) => held === undefined && hide());
    return () => {
      deaf();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', hideInBackground);
    };
  }, [shown, seconds]);
  const toggle = async (): Promise<void> => setShown(shown === undefined ? (typeof value === 'string' ? value : await value()) : undefined);
  return { shown, toggle };
}
