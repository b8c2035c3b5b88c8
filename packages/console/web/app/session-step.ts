/** A session's times, in milliseconds since the epoch. */
export interface SessionTimes {
  /** When the token was issued or last renewed. */
  readonly since: number;
  /** Absent for a token without an end. */
  readonly ends: number | undefined;
  /** Whether the server would give it more time. */
  readonly renewable: boolean;
}

export interface Now {
  readonly now: number;
  /** The last key or pointer of the person, in any tab. */
  readonly lastInput: number;
  /** After so much time without input the console locks itself. */
  readonly idle: number;
}

/** `over`: the token has ended. `lock`: nobody is there. `renew`: two thirds are gone and somebody works. `warn`: little is left. */
export type SessionStep = 'over' | 'lock' | 'renew' | 'warn' | 'none';

/** Input within this time counts as work. */
const WORK = 15 * 60_000;
/** With so much left, the page says so. */
export const WARNING = 5 * 60_000;

/** What is to be done about a session now. */
export function sessionStep({ since, ends, renewable }: SessionTimes, { now, lastInput, idle }: Now): SessionStep {
  if (ends !== undefined && now >= ends) return 'over';
  const quiet = now - lastInput;
  if (quiet >= idle) return 'lock';
  if (ends === undefined) return 'none';
  if (renewable && quiet < WORK && now >= since + ((ends - since) * 2) / 3) return 'renew';
  return ends - now <= WARNING ? 'warn' : 'none';
}
