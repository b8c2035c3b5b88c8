import {
  BadRequest,
  EngineError,
  f,
  InvalidRequest,
  mapConcurrently,
  path,
  probeServer,
  requireSecretsAgain,
  StepTrace,
  testReport,
  type AnyPath,
  type EngineHost,
  type ProbeFacts,
} from '@strongroom/engine-sdk';
import { reasonOf } from './broker-answer.ts';
import { BrokerFailed } from './broker-failed.ts';
import type { BrokerService } from './broker-service.ts';
import type { Broker } from './broker.ts';
import {
  addressOf,
  connectionFields,
  connectionWarnings,
  keptSecrets,
  mergeConnection,
  secretMoves,
  type Connection,
} from './connection.ts';
import type { DynamicUsers } from './dynamic-users.ts';
import { recordsIn, type RoleRecord } from './records.ts';

/** Virtual hosts that are looked up at the same time. */
const AT_ONCE = 8;

interface Facts extends ProbeFacts {
  /** The managing user. */
  readonly username?: string;
  readonly tags?: readonly string[];
  /** Virtual hosts that roles name and RabbitMQ does not have. */
  readonly missing?: readonly string[];
}
type Trace = StepTrace<'connect' | 'tls' | 'login' | 'rights' | 'virtual hosts', Facts>;

/** `config/test`: whether the management API can be reached, takes the password, lets the user manage others, and has what roles name. */
export function configTestPath(host: EngineHost, service: BrokerService, users: DynamicUsers): AnyPath {
  return path('config/test', {
    synopsis: 'Test the connection step by step: connect, TLS, login, rights, virtual hosts.',
    description:
      'Parameters in the request override those of the stored connection. The test stores nothing and changes nothing in RabbitMQ. It requires sudo.',
    access: 'sudo',
    fields: {
      ...connectionFields,
      role: f.string('Role whose virtual hosts are looked up. Default: those of all roles.', { default: '' }),
    },
  }).update({
    summary: 'Test the connection.',
    response: testReport({}),
    handle: async (req) => {
      const { role: name, ...sent } = req.data;
      const stored = await service.read();
      const asked = mergeConnection(stored, sent, '');
      // A stored password goes to no server but the one that it is stored for, whoever asks.
      if (stored) requireSecretsAgain({ changed: secretMoves(stored, asked), kept: keptSecrets(stored, req.supplied), sudo: false });
      users.names(asked.username_template);
      const { roles: stores } = recordsIn(req.storage);
      const roles = name === '' ? (await stores.entries()).map(([, role]) => role) : [await stores.get(name)];
      if (roles.includes(undefined)) throw new BadRequest(`role: there is no role ${JSON.stringify(name)}`);
      // Which password is valid may have to be asked of RabbitMQ.
      const connection = stored ? mergeConnection(await service.settled(stored), sent, '') : asked;
      const steps: { readonly ok: boolean }[] = [];
      const trace: Trace = new StepTrace(host.clock, (report) => steps.push(report));
      const broker = service.apart(connection);
      try {
        await tryConnection(connection, host, trace, req.signal);
        await tryLogin(broker, connection, trace, req.signal);
        await tryRights(broker, connection, trace, req.signal);
        await tryVhosts(broker, roles as RoleRecord[], trace, req.signal);
      } catch (error) {
        // A failed step is in the trace; any other error is a bug of ours, or the end of the request.
        if (!(error instanceof EngineError) || steps.every(({ ok }) => ok)) throw error;
      } finally {
        broker.close();
      }
      const warnings = connectionWarnings(connection);
      const report = { ok: steps.every(({ ok }) => ok), steps: steps as never };
      return { data: report, ...(warnings.length > 0 ? { warnings } : {}) };
    },
  });
}

async function tryConnection(connection: Connection, { clock }: EngineHost, trace: Trace, signal: AbortSignal): Promise<void> {
  await probeServer({
    url: connection.connection_uri,
    tls: addressOf(connection).tls,
    clock,
    trace,
    signal,
    reasonOf: (error) => reasonOf(error).text,
    failed: (reason) => new BrokerFailed(`RabbitMQ cannot be reached: ${reason}`, 'unsent'),
  });
}

async function tryLogin(broker: Broker, { username }: Connection, trace: Trace, signal: AbortSignal): Promise<void> {
  const since = trace.start();
  const { result, tags, reason } = await taken(broker.login(signal), (error) => trace.failed('login', since, { username }, error, error));
  if (result === 'accepted') return trace.passed('login', since, { username, tags });
  const refused = new InvalidRequest(`RabbitMQ refuses the login: ${reason}`);
  throw trace.failed('login', since, { username }, refused, refused);
}

/** Looks up the user itself, as only who manages users may. */
async function tryRights(broker: Broker, { username }: Connection, trace: Trace, signal: AbortSignal): Promise<void> {
  const since = trace.start();
  const tags = await taken(broker.tagsOf(username, signal), (error) => trace.failed('rights', since, { username }, error, error));
  if (tags?.includes('administrator')) return trace.passed('rights', since, { username, tags });
  const refused = new InvalidRequest(`the user ${JSON.stringify(username)} needs the tag administrator to manage others`);
  throw trace.failed('rights', since, { username, tags: tags ?? [] }, refused, refused);
}

async function tryVhosts(broker: Broker, roles: readonly RoleRecord[], trace: Trace, signal: AbortSignal): Promise<void> {
  const named = [...new Set(roles.flatMap(({ vhosts, vhost_topics: topics }) => [...Object.keys(vhosts), ...Object.keys(topics)]))].sort();
  if (named.length === 0) return;
  const since = trace.start();
  const missing = new Set<string>();
  const looking = mapConcurrently(named, AT_ONCE, async (vhost) => {
    if (!(await broker.hasVhost(vhost, signal))) missing.add(vhost);
  });
  await taken(looking, (error) => trace.failed('virtual hosts', since, {}, error, error));
  if (missing.size === 0) return trace.passed('virtual hosts', since);
  const absent = named.filter((vhost) => missing.has(vhost));
  const refused = new InvalidRequest(`RabbitMQ has no virtual host ${absent.map((vhost) => JSON.stringify(vhost)).join(', ')}`);
  throw trace.failed('virtual hosts', since, { missing: absent }, refused, refused);
}

/** What a call of the broker resolves with. @throws what `failed` makes of its failure, and all other errors as they are */
async function taken<T>(call: Promise<T>, failed: (error: BrokerFailed) => EngineError): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof BrokerFailed ? failed(error) : error;
  }
}
