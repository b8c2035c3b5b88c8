import { renewalRefused, renewedBy, samePolicies, StepTrace } from '@strongroom/auth-sdk';
import type { AuthRenewal, RenewedAuth } from '@strongroom/engine-sdk';
import type { Step } from './failures.ts';
import { judge, type Facts } from './judge.ts';
import { readShown, type LoginInternal, type LoginParts } from './login.ts';

/**
 * Renews a token if its role would still let the certificate of the login in. The very same certificate has to be shown again, unless `disable_binding` is set.
 * @throws InvalidRequest or BadRequest if not
 */
export async function renew(auth: AuthRenewal, parts: LoginParts): Promise<RenewedAuth> {
  const internal = auth.internal as unknown as LoginInternal;
  const trusted = await parts.roles.get(internal.role);
  if (!trusted) throw renewalRefused(`role "${internal.role}" does not exist during renewal`);
  if (!(await parts.configs.read()).disable_binding) {
    const shown = readShown(auth.certificates);
    if (shown.leaf.digest !== internal.certificate) {
      throw renewalRefused('client identity during renewal not matching client identity used during login');
    }
    const trace = new StepTrace<Step, Facts>(parts.clock, ({ ok, step, error }) => {
      if (!ok)
        parts.log.info('the renewal of a certificate login was refused', { mount: parts.mount.path, role: trusted.name, step, error });
    });
    await judge(trusted, shown, trace, parts, auth.signal);
  }
  if (!samePolicies(trusted.role.token_policies, auth.policies)) throw renewalRefused('policies have changed, not renewing');
  return renewedBy(trusted.role);
}
