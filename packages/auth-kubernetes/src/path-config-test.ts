import { testReport } from '@strongroom/auth-sdk';
import { BadRequest, EngineError, f, path, type AnyPath, type Clock } from '@strongroom/engine-sdk';
import { ApiServer, hostWarnings, probe, trustedCa, type PodFiles } from '@strongroom/kubernetes-client';
import { Type } from 'typebox';
import { reviewerOf, type Cluster } from './clusters.ts';
import { configFields, writtenConfig, type ConfigData, type KubernetesConfig } from './config.ts';
import { requireReviewerAgain, type ConfigStore } from './config-store.ts';
import { checkLogin, grant } from './login.ts';
import { publicKeys } from './pem-keys.ts';
import { askerOf, faultOf, reviewerRefused } from './review.ts';
import { findRole, foldRoleName, type Role } from './role.ts';
import { reviewToken } from './token-review.ts';
import { Trace, type StepReport } from './trace.ts';

/** Reviewed to learn whether the reviewer may ask; no cluster takes it for a token. */
const NO_TOKEN = 'strongroom-config-test';

const Tested = testReport({
  service_account: Type.Optional(Type.String()),
  alias: Type.Optional(Type.String()),
  policies: Type.Optional(Type.Array(Type.String())),
});

interface Report {
  readonly ok: boolean;
  readonly steps: readonly StepReport[];
  readonly service_account?: string;
  readonly alias?: string;
  readonly policies?: readonly string[];
}

interface Tested {
  readonly roleName: string;
  readonly role: Role | undefined;
  readonly jwt: string;
  readonly remoteAddress: string;
}

export function configTestPath(configs: ConfigStore, { clock, pod }: { readonly clock: Clock; readonly pod: PodFiles }): AnyPath {
  return path('config/test', {
    synopsis: 'Test the configuration and a login step by step.',
    description:
      'Parameters in the request override those of the stored configuration. The test stores nothing and issues no token. Without jwt, it ends after the ' +
      'reviewer. It requires sudo, because the result reveals why a login is refused.',
    access: 'sudo',
    fields: {
      ...configFields,
      role: f.string('Role to test; needs jwt.', { default: '', folds: foldRoleName }),
      jwt: f.secret('Token of a service account to test.', { default: '' }),
    },
  }).update({
    summary: 'Test the configuration.',
    response: Tested,
    handle: async (req) => {
      const { role: roleName, jwt, ...data } = req.data;
      const config = testedConfig(await configs.read(), data);
      const ca = await trustedCa(config, pod);
      const api = new ApiServer({ url: config.kubernetes_host, ca }, { clock, circuit: { call: async (_signal, work) => work() } });
      const cluster = { config, api, keys: publicKeys(config.pem_keys), reviewer: await reviewerOf(config, pod) };
      const steps: StepReport[] = [];
      const trace = new Trace(clock, (report) => steps.push(report));
      try {
        const found = await attempt(async () => {
          await probe({ url: config.kubernetes_host, ca }, clock, trace, req.signal);
          await tryReviewer(cluster, trace, req.signal);
          if (jwt === '') return {};
          const role = await findRole(req.storage, roleName);
          return tryLogin(cluster, { roleName, role, jwt: jwt.trim(), remoteAddress: req.caller.remoteAddress }, clock, trace, req.signal);
        });
        const report: Report = { ok: steps.every((step) => step.ok), steps, ...found };
        const warnings = hostWarnings(config.kubernetes_host);
        return { data: report, ...(warnings.length > 0 ? { warnings } : {}) };
      } finally {
        api.close();
      }
    },
  });
}

/** A stored reviewer's token goes to no server but the one that it is stored for. @throws BadRequest */
function testedConfig(stored: KubernetesConfig | undefined, data: ConfigData): KubernetesConfig {
  const { token_reviewer_jwt: _secret, ...shown } = stored ?? {};
  const sent = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as ConfigData;
  const config = writtenConfig(stored, { ...shown, ...sent });
  requireReviewerAgain(stored, config, sent, false);
  return config;
}

/** A failed step is in the trace; any other error is a bug of ours, or the end of the request. */
async function attempt(work: () => Promise<Partial<Report>>): Promise<Partial<Report>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError && error.status < 503) return {};
    throw error;
  }
}

async function tryReviewer(cluster: Cluster, trace: Trace, signal: AbortSignal): Promise<void> {
  if (cluster.reviewer === undefined) return;
  const since = trace.start();
  const facts = { url: cluster.config.kubernetes_host, reviewer: askerOf(cluster) };
  const reviewed = await reviewToken(cluster.api, NO_TOKEN, [], cluster.reviewer, signal).catch((error: unknown) => {
    throw faultOf(error, (reason, answer) => trace.failed('reviewer', since, facts, reason, answer));
  });
  if (reviewed.result === 'asker refused') {
    const reason = `${reviewed.status}: ${reviewed.reason}`;
    throw trace.failed('reviewer', since, facts, reason, reviewerRefused(reason));
  }
  trace.passed('reviewer', since, facts);
}

async function tryLogin(cluster: Cluster, tested: Tested, clock: Clock, trace: Trace, signal: AbortSignal): Promise<Partial<Report>> {
  const { roleName, remoteAddress } = tested;
  if (roleName === '') throw trace.failed('role', trace.start(), {}, 'missing role', new BadRequest('missing role'));
  const { role, account } = await checkLogin(cluster, { ...tested, signal }, clock, trace);
  const since = trace.start();
  const { policies, alias } = grant(roleName, role, account, remoteAddress);
  const all = [...new Set([...policies, ...(role.token_no_default_policy ? [] : ['default'])])].sort();
  trace.passed('policies', since, { policies: all });
  return { service_account: `${account.namespace}/${account.name}`, ...(alias ? { alias: alias.name } : {}), policies: all };
}
