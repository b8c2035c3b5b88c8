import type { ButtonProps } from '@mantine/core';
import { useAct } from '../api/queries.ts';
import { WORK_PATHS } from '../api/work.ts';
import { apiPath } from '../api/api-path.ts';
import type { ApiError } from '../api/api-error.ts';
import { ActionButton } from './action-button.tsx';

interface TryNowProps extends ButtonProps {
  /** The path that tries again; as people write it. */
  readonly retry: string | null;
  /** The job to run where there is no such path. */
  readonly job: string | null;
  readonly stale?: readonly string[];
  readonly label?: string;
  readonly ended: (error: ApiError | undefined) => void;
}

/** Tries again now, by the thing's own path where it has one, and else by its job. Hears of the outcome; nothing where neither is known. */
export function TryNow({ retry, job, stale = [], label = 'Try now', ended, ...rest }: TryNowProps) {
  const path = retry ?? 'sys/schedule/run';
  const act = useAct({ method: 'POST', path: apiPath(path), stale: [...WORK_PATHS, ...stale] });
  if (retry === null && job === null) return null;
  const run = (): void =>
    act.mutate(retry === null ? { job } : {}, {
      onSuccess: () => ended(undefined),
      onError: (error) => ended(error),
    });
  return (
    <ActionButton {...rest} needs={{ path, need: 'update', sudo: path.startsWith('sys/') }} loading={act.isPending} onClick={run}>
      {label}
    </ActionButton>
  );
}
