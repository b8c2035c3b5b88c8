import type { ButtonProps } from '@mantine/core';
import type { ApiError } from '../api/api-error.ts';
import { useAct } from '../api/queries.ts';
import { WORK_PATHS } from '../api/work.ts';
import { ActionButton } from './action-button.tsx';

interface ResetCircuitProps extends ButtonProps {
  readonly mount: string;
  /** As the engine calls the outside system. */
  readonly target: string;
  readonly stale?: readonly string[];
  readonly label?: string;
  readonly ended: (error: ApiError | undefined) => void;
}

/** Closes a circuit breaker, and has everything that waits for it tried again. */
export function ResetCircuit({ mount, target, stale = [], label = 'Reset circuit', ended, ...rest }: ResetCircuitProps) {
  const act = useAct({ method: 'POST', path: 'sys/circuits/reset', stale: [...WORK_PATHS, ...stale] });
  const reset = (): void => act.mutate({ mount, target }, { onSuccess: () => ended(undefined), onError: (error) => ended(error) });
  return (
    <ActionButton
      {...rest}
      variant="default"
      needs={{ path: 'sys/circuits/reset', need: 'update', sudo: true }}
      loading={act.isPending}
      onClick={reset}
    >
      {label}
    </ActionButton>
  );
}
