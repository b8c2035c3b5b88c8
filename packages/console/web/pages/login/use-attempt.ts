import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';

/** Runs one attempt at a time, and keeps what the server said against it. */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, attempt };
}
