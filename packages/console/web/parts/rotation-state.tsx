import { StateChip, type Mood } from './state-chip.tsx';

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
