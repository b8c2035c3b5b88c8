import { BadRequest } from '@strongroom/engine-sdk';
import type { SessionPolicies } from './cloud-provider.ts';
import type { CredentialType } from './records.ts';

/** Seconds: what STS gives. */
export const SHORTEST_SESSION = 900;
export const LONGEST_SESSION = { assumed_role: 43_200, federation_token: 129_600, session_token: 129_600 };
/** Characters of a policy in JSON, without the space between its parts: for a user and for a session. */
export const LONGEST_DOCUMENT = 2_048;
/** Policies of a user, unless AWS has raised the quota, and of a session, for which it never does. */
export const MOST_POLICIES = 10;
const SHORTEST_SESSION_NAME = 2;

/** `seconds`: what is left of the wish, the role and the mount together. @throws BadRequest for what STS never gives */
export function requireSessionLength(type: Exclude<CredentialType, 'iam_user'>, seconds: number): void {
  const most = LONGEST_SESSION[type];
  if (seconds >= SHORTEST_SESSION && seconds <= most) return;
  throw new BadRequest(
    `ttl: AWS gives credentials of ${type} for ${SHORTEST_SESSION} to ${most} s, and ttl, the role and the mount come to ${seconds} s`,
  );
}

/** @throws BadRequest */
export function requireSessionName(name: string): void {
  if (name.length < SHORTEST_SESSION_NAME)
    throw new BadRequest(`role_session_name must have at least ${SHORTEST_SESSION_NAME} characters, and has ${name.length}`);
}

/** `fromGroups`: some are those of `iam_groups`. @throws BadRequest for more than a session can be restricted to */
export function requireSessionPolicies({ policyArns, policyDocument }: SessionPolicies, fromGroups: boolean): void {
  const fields = (field: string): string => (fromGroups ? `${field} and iam_groups` : field);
  if (policyArns.length > MOST_POLICIES)
    throw new BadRequest(
      `${fields('policy_arns')}: ${policyArns.length} policies in all, where AWS takes at most ${MOST_POLICIES} for a session`,
    );
  if (policyDocument.length > LONGEST_DOCUMENT)
    throw new BadRequest(
      `${fields('policy_document')}: ${policyDocument.length} characters in all, where AWS takes at most ${LONGEST_DOCUMENT} for a session`,
    );
}
