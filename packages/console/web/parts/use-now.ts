import { useEffect, useState } from 'react';

/** The time, read again every so many milliseconds while the tab is seen. */
export function useNow(every: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => void (!document.hidden && setNow(Date.now())), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
