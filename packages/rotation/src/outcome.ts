/**
 * What a failed call did outside. `unsent`: nothing. `refused`: the other side said no, and nothing is left. `unknown`: it may or may not have
 * happened.
 */
export type Outcome = 'unsent' | 'refused' | 'unknown';

/** Which of two credentials the other side takes. `unprovable`: it takes any, or there is no way to try. */
export type Proof = 'candidate' | 'current' | 'neither' | 'unprovable';
