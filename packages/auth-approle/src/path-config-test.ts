import { StepTrace, testReport, type StepReport } from '@strongroom/auth-sdk';
import { BadRequest, EngineError, f, path, withinCidrs, type AnyPath, type Clock } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { addressRefused, tokenAddresses } from './addresses.ts';
import { credentialsRefused, type LoginParts } from './login.ts';
import type { Role } from './role.ts';
import { isExpired, type SecretId } from './secret-id.ts';

type Step = 'role id' | 'secret id' | 'expiry' | 'uses' | 'addresses of the secret id' | 'addresses of the role' | 'addresses of the token';

interface Facts {
  readonly name?: string;
  readonly accessor?: string;
  /** RFC 3339. */
  readonly expires?: string;
  /** How many are left; 0 means without limit. */
  readonly uses?: number;
  readonly cidrs?: readonly string[];
}

const granted = {
  role_name: Type.Optional(Type.String()),
  policies: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
};
interface Granted {
  readonly role_name?: string;
  readonly policies?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

export function configTestPath({ storage, roles, secretIds }: LoginParts, clock: Clock): AnyPath {
  return path('config/test', {
    synopsis: 'Test a login step by step.',
    description:
      'Reports at which step a login with this role id and secret id would be refused. The test does not use up the secret id and issues no token. It requires sudo, ' +
      'because the result reveals which role ids exist.',
    access: 'sudo',
    fields: {
      role_id: f.string('The id of the role.', { default: '' }),
      secret_id: f.secret('A secret id of the role.', { default: '' }),
      remote_address: f.string('Client address to test. Default: the address of this request.', { default: '' }),
    },
  }).update({
    summary: 'Test a login.',
    response: testReport(granted),
    handle: async ({ data, caller }) => {
      const roleId = data.role_id.trim();
      if (roleId === '') throw new BadRequest('missing role_id');
      const address = data.remote_address === '' ? caller.remoteAddress : data.remote_address;
      const steps: StepReport<Step, Facts>[] = [];
      const trace = new StepTrace<Step, Facts>(clock, (report) => steps.push(report));
      const check = (step: Step, facts: Facts, problem: string | EngineError | undefined, since = trace.start()): void => {
        if (problem === undefined) return trace.passed(step, since, facts);
        throw trace.failed(step, since, facts, problem, problem instanceof EngineError ? problem : credentialsRefused());
      };
      const attempt = async (): Promise<Granted> => {
        let since = trace.start();
        const found = await roles.byRoleId(roleId);
        check('role id', found ? { name: found.name } : {}, found ? undefined : 'no role has this role id', since);
        const { name, role } = found!;
        since = trace.start();
        const secret = role.bind_secret_id ? await secretIds.findEvenExpired(storage, role.key, data.secret_id.trim()) : undefined;
        if (role.bind_secret_id) {
          check(
            'secret id',
            secret ? { accessor: secret.record.accessor } : {},
            secret ? undefined : 'the role has no such secret id: it is wrong, destroyed or used up',
            since,
          );
          checkSecretId(secret!.record);
        }
        const wrong = withinCidrs(role.secret_id_bound_cidrs, address) ? undefined : addressRefused(address, 'role');
        check('addresses of the role', { cidrs: role.secret_id_bound_cidrs }, wrong);
        checkToken(role, secret?.record);
        return { role_name: name, policies: role.token_policies, metadata: { ...secret?.record.metadata, role_name: name } };
      };
      const checkSecretId = (record: SecretId): void => {
        const expires = record.expires === 0 ? {} : { expires: new Date(record.expires).toISOString() };
        check('expiry', expires, isExpired(record, clock.millis()) ? 'the secret id has expired' : undefined);
        check('uses', { uses: record.uses_left }, undefined);
        const wrong = withinCidrs(record.cidr_list, address) ? undefined : addressRefused(address, 'secret ID');
        check('addresses of the secret id', { cidrs: record.cidr_list }, wrong);
      };
      const checkToken = (role: Role, record: SecretId | undefined): void => {
        const cidrs = tokenAddresses(role.token_bound_cidrs, record?.token_bound_cidrs ?? []);
        if (!cidrs) return check('addresses of the token', {}, 'the secret id and the role share no addresses');
        check(
          'addresses of the token',
          { cidrs },
          withinCidrs(cidrs, address) ? undefined : 'the token could not be used from this address',
        );
      };
      const found = await attempt().catch((error: unknown): Granted => {
        // The failed step is in the trace.
        if (steps.at(-1)?.ok === false) return {};
        throw error;
      });
      return { data: { ok: steps.every(({ ok }) => ok), steps, ...found } };
    },
  });
}
