import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Right } from '../../api/rights.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';

interface ToolFormProps {
  readonly button: string;
  readonly needs?: Right;
  readonly disabled?: boolean;
  /** Asks the server. @throws ApiError */
  readonly run: () => Promise<void>;
  readonly children: ReactNode;
  readonly result?: ReactNode;
}

/** The fields of a tool, its button, and what it made. */
export function ToolForm({ button, needs, disabled = false, run, children, result }: ToolFormProps) {
  const { busy, error, attempt } = useAttempt();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled) void attempt(run);
      }}
    >
      <Stack>
        {children}
        {error && <ServerError error={error} />}
        <div>
          <ActionButton size="sm" type="submit" needs={needs} disabled={disabled} loading={busy}>
            {button}
          </ActionButton>
        </div>
        {result}
      </Stack>
    </form>
  );
}
