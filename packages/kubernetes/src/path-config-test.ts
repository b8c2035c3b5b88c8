import {
  BadRequest,
  EngineError,
  f,
  mapConcurrently,
  path,
  StepTrace,
  testReport,
  type AnyPath,
  type EngineHost,
  type ProbeFacts,
} from '@strongroom/engine-sdk';
import {
  ApiServer,
  ApiServerFailed,
  hostWarnings,
  objectOf,
  probe,
  reasonOf,
  trustedCa,
  unexpectedAnswer,
  type PodEnvironment,
} from '@strongroom/kubernetes-client';
import { bearerOf, NO_TOKEN, type Access, type Cluster } from './cluster.ts';
import { configFields, writtenConfig } from './config.ts';
import { escalationFor, rightsFor, rightText, type Right } from './needed-rights.ts';
import { CONFIG, recordsIn, type RoleRecord } from './records.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
/** Reviews that are asked at the same time. */
const AT_ONCE = 8;

interface Facts extends ProbeFacts {
  /** Rights that the account lacks. */
  readonly missing?: readonly string[];
}
type Trace = StepTrace<'connect' | 'tls' | 'login' | 'rights', Facts>;

/** `config/test`: whether the API server can be reached, takes the token, and lets its account do what roles need. */
export function configTestPath(host: EngineHost, cluster: Cluster, environment: PodEnvironment): AnyPath {
  const { pod } = cluster;
  return path('config/test', {
    synopsis: 'Test the configuration step by step: connect, TLS, login, rights.',
    description:
      'Parameters in the request override those of the stored configuration. The test stores nothing, and creates nothing in the cluster: it asks the API server ' +
      'whether the account may do what the roles of the mount need. It requires sudo.',
    access: 'sudo',
    fields: { ...configFields, role: f.lowercase('Role whose needs are tested. Default: all roles.', { default: '' }) },
  }).update({
    summary: 'Test the configuration.',
    response: testReport({}),
    handle: async (req) => {
      const { role: name, ...data } = req.data;
      const records = recordsIn(req.storage);
      // A stored token goes to no server but the one that it is stored for, whoever asks.
      const config = writtenConfig(await records.config.get(CONFIG), data, environment, false);
      const roles = name === '' ? (await records.roles.entries()).map(([, role]) => role) : [await records.roles.get(name)];
      if (roles.includes(undefined)) throw new BadRequest(`role: there is no role ${JSON.stringify(name)}`);
      const ca = await trustedCa(config, pod);
      const bearer = await bearerOf(config, pod);
      if (bearer === undefined) throw new BadRequest(NO_TOKEN);
      const steps: { readonly ok: boolean }[] = [];
      const trace: Trace = new StepTrace(host.clock, (report) => steps.push(report));
      const address = { url: config.kubernetes_host, ca };
      const api = new ApiServer(address, { clock: host.clock, circuit: { call: async (_signal, work) => work() } });
      const warnings = hostWarnings(config.kubernetes_host);
      try {
        await probe(address, host.clock, trace, req.signal);
        const reviews = new AccessReviews({ api, bearer }, req.signal);
        await tryLogin(reviews, trace);
        warnings.push(...(await tryRights(reviews, trace, roles as RoleRecord[])));
      } catch (error) {
        // A failed step is in the trace; any other error is a bug of ours, or the end of the request.
        if (!(error instanceof EngineError) || steps.every(({ ok }) => ok)) throw error;
      } finally {
        api.close();
      }
      const report = { ok: steps.every(({ ok }) => ok), steps: steps as never };
      return { data: report, ...(warnings.length > 0 ? { warnings } : {}) };
    },
  });
}

/** Questions of what the account of a token may do. */
class AccessReviews {
  readonly #access: Access;
  readonly #signal: AbortSignal;

  constructor(access: Access, signal: AbortSignal) {
    this.#access = access;
    this.#signal = signal;
  }

  /** @throws ApiServerFailed */
  async allows({ verb, group, resource, subresource, namespace }: Right): Promise<boolean> {
    const resourceAttributes = { verb, group, resource, namespace, ...(subresource === undefined ? {} : { subresource }) };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
    const { api, bearer } = this.#access;
    const call = { method: 'POST' as const, path: REVIEWS, bearer, body: JSON.stringify(body) };
    return api.call(call, this.#signal, { bearer }, ({ status, body: answer, message }) => {
      if (status >= 300) throw unexpectedAnswer(status, message);
      return objectOf(answer?.['status'])?.['allowed'] === true;
    });
  }
}

async function tryLogin(reviews: AccessReviews, trace: Trace): Promise<void> {
  const since = trace.start();
  try {
    await reviews.allows({ verb: 'create', group: '', resource: 'serviceaccounts', subresource: 'token', namespace: '' });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw trace.failed('login', since, {}, error.cause === undefined ? error : reasonOf(error.cause), error);
  }
  trace.passed('login', since);
}

/** Resolves with a warning for each right without which a role works only if the account has what it gives. */
async function tryRights(reviews: AccessReviews, trace: Trace, roles: readonly RoleRecord[]): Promise<string[]> {
  const since = trace.start();
  const missing = await denied(reviews, roles.flatMap(rightsFor));
  const escalations = await denied(
    reviews,
    roles.flatMap((role) => escalationFor(role) ?? []),
  );
  if (missing.length === 0) trace.passed('rights', since);
  else {
    const refused = new ApiServerFailed(`does not allow what roles need: ${missing.join(', ')}`, 'rights are missing', { answered: true });
    trace.failed('rights', since, { missing }, refused, refused);
  }
  return escalations.map((right) => `without the right to ${right}, the account can give only rights that it has itself`);
}

/** Each once, in words. */
async function denied(reviews: AccessReviews, rights: readonly Right[]): Promise<string[]> {
  const texts = new Map(rights.map((right) => [rightText(right), right]));
  const found = new Set<string>();
  await mapConcurrently([...texts], AT_ONCE, async ([text, right]) => {
    if (!(await reviews.allows(right))) found.add(text);
  });
  return [...texts.keys()].filter((text) => found.has(text));
}
