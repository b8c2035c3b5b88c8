import { heldBy, matchesGlob } from '@strongroom/auth-sdk';
import { holderSource, type HolderSource, type StorageView } from '@strongroom/engine-sdk';
import { rolesOf } from './role.ts';

/** The roles, and which policies each gives: those of templates may have any name that the fixed parts of the template leave open. */
export function policyHolders(storage: StorageView): HolderSource {
  return holderSource('role', 'role', rolesOf(storage), (role) => {
    const held = heldBy(role);
    if (!role.token_policies_template_claims) return held;
    const globs = held.policies.map((template) => template.replaceAll(/\{\{.*?\}\}/gs, '*'));
    const [fixed, open] = [globs.filter((name) => !name.includes('*')), globs.filter((name) => name.includes('*'))];
    return { ...held, policies: fixed, mayGive: (policy) => open.some((glob) => matchesGlob(glob, policy)) };
  });
}
