import { Text } from '@mantine/core';
import { Facts } from './facts.tsx';
import { StateChip, type Mood } from './state-chip.tsx';
import { When } from './when.tsx';

/** The status block of everything whose credential is rotated. */
export interface RotationStatus {
  readonly state: string;
  readonly attempts: number;
  readonly next_attempt: string | null;
  readonly last_success: string | null;
  readonly last_error: { readonly message: string; readonly time?: string } | null;
  readonly login?: string;
}

const MOODS: Readonly<Record<string, Mood>> = {
  idle: 'good',
  waiting: 'good',
  rotating: 'wait',
  failing: 'bad',
  failed: 'bad',
  unsettled: 'warn',
  taken_over: 'warn',
};

export function RotationChip({ status }: { readonly status: RotationStatus }) {
  return <StateChip mood={MOODS[status.state] ?? 'wait'}>{status.state.replaceAll('_', ' ')}</StateChip>;
}

/** When it was rotated, when it will be, and why it was not. */
export function RotationState({ status }: { readonly status: RotationStatus }) {
  return (
    <Facts
      facts={[
        { label: 'State', value: <RotationChip status={status} /> },
        { label: 'Last good', value: <When time={status.last_success} /> },
        status.next_attempt !== null && { label: 'Next', value: <When time={status.next_attempt} /> },
        status.attempts > 0 && { label: 'Tries', value: status.attempts },
        status.last_error !== null && { label: 'The directory said', value: <Text size="sm">{status.last_error.message}</Text> },
        status.login !== undefined && { label: 'Login with the new one', value: status.login.replaceAll('_', ' ') },
      ]}
    />
  );
}
