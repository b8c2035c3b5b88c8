/** A step of a login, in the order in which they are made. */
export type Step =
  | 'keys'
  | 'signature'
  | 'role'
  | 'issuer'
  | 'subject'
  | 'audience'
  | 'times'
  | 'user claim'
  | 'mapping'
  | 'groups'
  | 'bound claims'
  | 'policies';

/** What the operator may know of a step; never a token. */
export interface Facts {
  /** Where the keys come from. */
  readonly source?: string;
  /** Of keys, groups or policies. */
  readonly count?: number;
  /** Of the signature. */
  readonly algorithm?: string;
  /** Name of the alias. */
  readonly name?: string;
}

/** Makes one step. A test of the configuration reports each; a login only makes them. */
export type StepRunner = <T>(step: Step, work: () => T, facts?: (result: T) => Facts) => T;

export const unreported: StepRunner = (_step, work) => work();
