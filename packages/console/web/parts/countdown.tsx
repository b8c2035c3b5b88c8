import { useEffect, useRef } from 'react';
import { duration } from './durations.ts';
import { useNow } from './use-now.ts';

/** The time left until then; says so to assistive technology each minute, not each second. */
export function Countdown({ until, over }: { readonly until: number; readonly over?: () => void }) {
  const now = useNow(1000);
  const left = Math.max(0, (until - now) / 1000);
  const called = useRef(false);
  useEffect(() => {
    if (left > 0 || called.current) return;
    called.current = true;
    over?.();
  }, [left, over]);
  return (
    <span role="timer" aria-live="off">
      {left > 0 ? `${duration(left)} left` : 'over'}
    </span>
  );
}
