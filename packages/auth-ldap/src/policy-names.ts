import { BadRequest } from '@strongroom/engine-sdk';

/** Lower-cased, sorted, each once. @throws BadRequest that names the field, for `root`. */
export function policyNames(names: readonly string[], field: string): string[] {
  const policies = [...new Set(names.map((name) => name.toLowerCase()))].sort();
  refuseRoot(policies, field);
  return policies;
}

/** A login with the policy `root` would be refused. @throws BadRequest */
export function refuseRoot(policies: readonly string[], field: string): void {
  if (policies.includes('root'))
    throw new BadRequest(`${field}: no login can give the policy "root"; write a policy of your own with the paths that are needed`);
}
