import { useState } from 'react';
import { ApiError } from '../api/api-error.ts';

/** Runs one attempt at a time, and keeps what the server said against it. `running` is which one runs, where there are several. */
export function useAttempt<What extends string = 'work'>() {
  const [running, setRunning] = useState<What | 'work'>();
  const [error, setError] = useState<ApiError>();
  const attempt = async (work: () => Promise<void>, what: What | 'work' = 'work'): Promise<void> => {
    setRunning(what);
    setError(undefined);
    try {
      await work();
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setRunning(undefined);
    }
  };
  return { busy: running !== undefined, running, error, attempt };
}
