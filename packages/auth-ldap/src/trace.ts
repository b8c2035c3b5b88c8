import { StepTrace, type StepReport as Report } from '@strongroom/auth-sdk';
import type { Clock } from '@strongroom/engine-sdk';
import { refusalReason } from './bind-refusal.ts';

export type Step =
  | 'connect'
  | 'tls'
  | 'service bind'
  | 'user search'
  | 'user bind'
  | 'user name search'
  | 'group search'
  | 'alias'
  | 'account'
  | 'policies';

/** What the operator may know of a step; never a password. */
export interface Facts {
  /** The server that answered. */
  readonly url?: string;
  /** The name that was bound. */
  readonly name?: string;
  readonly base?: string;
  readonly filter?: string;
  /** Entries, groups or policies found. */
  readonly count?: number;
  /** Of TLS, such as `TLSv1.3`. */
  readonly protocol?: string;
  /** What the directory means by its refusal, where it says so. */
  readonly reason?: string;
}

export type StepReport = Report<Step, Facts>;

/** Reports the steps of a directory login. */
export class Trace extends StepTrace<Step, Facts> {
  constructor(clock: Clock, observe: (report: StepReport) => void) {
    super(clock, observe, (reason) => {
      const meaning = refusalReason(reason);
      return meaning === undefined ? {} : { reason: meaning };
    });
  }
}
