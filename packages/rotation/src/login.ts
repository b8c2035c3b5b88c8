import type { Proof } from './outcome.ts';

/**
 * What a try to log in found about the credentials that are stored. `accepted`: one of them logs in. `refused`: none does. `unreachable`: there was
 * no answer. `inconclusive`: any login is accepted there, or none can tell. `not_tried`: the last rotation failed before a login was tried.
 */
export type Login = 'accepted' | 'refused' | 'unreachable' | 'inconclusive' | 'not_tried';

/** What the machine found by the engine's `prove`; `untried` where that threw, for the reason beside it. */
export type Finding = { readonly proof: Proof; readonly reason?: undefined } | { readonly proof: 'untried'; readonly reason: unknown };

const logins: Readonly<Record<Finding['proof'], Login>> = {
  candidate: 'accepted',
  current: 'accepted',
  neither: 'refused',
  unprovable: 'inconclusive',
  untried: 'unreachable',
};

export function loginOf(finding: Finding | undefined): Login {
  return finding === undefined ? 'not_tried' : logins[finding.proof];
}

/** A login did not prove the new credential. */
export class Unproven extends Error {
  readonly finding: Finding;

  constructor(message: string, finding: Finding) {
    super(message, finding.proof === 'untried' ? { cause: finding.reason } : undefined);
    this.finding = finding;
  }
}
