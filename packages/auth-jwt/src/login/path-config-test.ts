import { StepTrace, testReport, type StepReport } from '@strongroom/auth-sdk';
import { BadRequest, EngineError, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { configFields } from '../config/config-fields.ts';
import { groupSeparator } from '../config/provider.ts';
import type { JwtConfig } from '../config/config.ts';
import { keySourceOf, setupOf, type Setup } from '../config/setup.ts';
import { trySource } from '../config/try-source.ts';
import type { Facts, Step, StepRunner } from '../claims/step.ts';
import type { IssuerHttp } from '../keys/issuer-http.ts';
import { fixedKeys } from '../keys/key-source.ts';
import { defaultRole, rolesOf, type Role } from '../roles/role.ts';
import { checkIssuer } from '../token/token-claims.ts';
import { checkTimes } from '../token/token-times.ts';
import { verifySigned, type VerifiedToken } from '../token/verify-token.ts';
import { acceptToken } from './accept-token.ts';
import type { LoginParts } from './login.ts';

/** What a token would get. */
interface Granted {
  readonly alias?: string;
  readonly groups?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly policies?: readonly string[];
}

const texts = Type.Optional(Type.Array(Type.String()));
const Tested = testReport({
  alias: Type.Optional(Type.String()),
  groups: texts,
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  policies: texts,
});

const { skip_jwks_validation: _skip, ...testedFields } = configFields;

export function configTestPath(parts: LoginParts, http: IssuerHttp): AnyPath {
  return path('config/test', {
    synopsis: 'Test a configuration, a token and a role step by step.',
    description:
      'Without parameters of config, the test uses the stored configuration; otherwise, the configuration that a write of these parameters would store. It stores ' +
      'nothing, issues no token, and ends at the first step that fails. It requires sudo, because the server connects to the given addresses.',
    access: 'sudo',
    fields: {
      ...testedFields,
      jwt: f.secret('A signed token. Without one, the test only fetches the keys.', { default: '' }),
      role: f.lowercase('Role to test the token against. Default: default_role.', { default: '' }),
    },
  }).update({
    summary: 'Test a configuration.',
    response: Tested,
    handle: async (req) => {
      const { jwt, role, ...data } = req.data;
      const fields = new Set([...req.supplied].filter((name) => name in testedFields));
      const config = fields.size > 0 ? await parts.configs.merged(data, fields) : await parts.configs.read();
      if (!config) throw new BadRequest('could not load configuration');
      const steps: StepReport<Step, Facts>[] = [];
      const trace = new StepTrace<Step, Facts>(parts.clock, (report) => steps.push(report));
      const granted = await attempt(() => walk({ parts, http, config, trace, jwt: jwt.trim(), role, signal: req.signal }));
      return { data: { ok: steps.every(({ ok }) => ok), steps, ...granted } };
    },
  });
}

/** A failed step is in the trace; any other error is a bug of ours. */
async function attempt(work: () => Promise<Granted>): Promise<Granted> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError) return {};
    throw error;
  }
}

interface Walk {
  readonly parts: LoginParts;
  readonly http: IssuerHttp;
  readonly config: JwtConfig;
  readonly trace: StepTrace<Step, Facts>;
  readonly jwt: string;
  readonly role: string;
  readonly signal: AbortSignal;
}

async function walk({ parts, http, config, trace, jwt, role: named, signal }: Walk): Promise<Granted> {
  const run = runnerOf(trace);
  const source = { source: describe(config) };
  const keys = await runAsync(
    trace,
    'keys',
    async () => trySource(config, http, signal),
    ({ length: count }) => ({ ...source, count }),
    source,
  );
  if (jwt === '') return {};
  const setup = setupOf(config, fixedKeys(keys));
  const verified = await runAsync(
    trace,
    'signature',
    async () => verifySigned(setup, jwt, signal),
    ({ alg: algorithm }) => ({ algorithm }),
  );
  const roleName = named === '' ? config.default_role : named;
  const now = parts.clock.millis() / 1_000;
  if (roleName === '') return withoutRole(setup, verified, now, run);
  const role = await runAsync(trace, 'role', async () => jwtRole(await rolesOf(parts.storage).get(roleName), roleName));
  const { auth } = acceptToken(
    {
      roleName,
      role,
      claims: verified.claims,
      issuer: setup.issuer,
      now,
      remoteAddress: '',
      groupSeparator: groupSeparator(config.provider_config),
      template: parts.template,
    },
    run,
  );
  const own = role.token_no_default_policy ? [] : ['default'];
  return {
    alias: auth.alias!.name,
    groups: auth.groupAliases,
    metadata: auth.metadata,
    policies: [...new Set([...auth.policies.map((name) => name.toLowerCase()), ...own])].sort(),
  };
}

function withoutRole({ issuer }: Setup, { claims }: VerifiedToken, now: number, run: StepRunner): Granted {
  run('issuer', () => checkIssuer(claims, issuer));
  run('times', () => checkTimes(claims, defaultRole, now));
  return {};
}

function jwtRole(role: Role | undefined, name: string): Role {
  if (!role) throw new BadRequest(`role ${JSON.stringify(name)} could not be found`);
  if (role.role_type !== 'jwt') throw new BadRequest('role with oidc role_type is not allowed');
  return role;
}

function describe(config: JwtConfig): string {
  const source = keySourceOf(config);
  if (source.kind === 'keys') return 'jwt_validation_pubkeys';
  return source.kind === 'discovery' ? source.url : source.sets.map(({ url }) => url).join(', ');
}

function runnerOf(trace: StepTrace<Step, Facts>): StepRunner {
  return (step, work, facts = () => ({})) => {
    const since = trace.start();
    try {
      const result = work();
      trace.passed(step, since, facts(result));
      return result;
    } catch (error) {
      throw error instanceof EngineError ? trace.failed(step, since, {}, error, error) : error;
    }
  };
}

async function runAsync<T>(
  trace: StepTrace<Step, Facts>,
  step: Step,
  work: () => Promise<T>,
  facts: (result: T) => Facts = () => ({}),
  known: Facts = {},
): Promise<T> {
  const since = trace.start();
  try {
    const result = await work();
    trace.passed(step, since, facts(result));
    return result;
  } catch (error) {
    throw error instanceof EngineError ? trace.failed(step, since, known, error, error) : error;
  }
}
