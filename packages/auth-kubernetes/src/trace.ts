import { StepTrace, type StepReport as Report } from '@strongroom/auth-sdk';
import type { ProbeFacts } from '@strongroom/engine-sdk';

/** The steps of a login, and before them those of `config/test` alone: connect, tls, reviewer. */
export type Step =
  | 'connect'
  | 'tls'
  | 'reviewer'
  | 'token'
  | 'role'
  | 'token review'
  | 'address'
  | 'service account name'
  | 'namespace'
  | 'namespace selector'
  | 'policies';

/** What the operator may know of a step; never a token. */
export interface Facts extends ProbeFacts {
  readonly role?: string;
  /** `namespace/name`, as the token has it until it is reviewed. */
  readonly service_account?: string;
  readonly audiences?: readonly string[];
  /** With whose token the review was asked. */
  readonly reviewer?: 'token_reviewer_jwt' | 'pod' | 'the caller';
  readonly labels?: Readonly<Record<string, string>>;
  readonly policies?: readonly string[];
}

export type Trace = StepTrace<Step, Facts>;
export const Trace = StepTrace<Step, Facts>;
export type StepReport = Report<Step, Facts>;
