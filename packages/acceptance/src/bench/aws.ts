import { AttachUserPolicyCommand, CreateAccessKeyCommand, CreateUserCommand, IAMClient } from '@aws-sdk/client-iam';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { startMoto } from '@strongroom/lab';
import type { BenchServer } from './bench-server.ts';
import { startDelayedSts } from './delayed-sts.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';

/** moto works on one call at a time; more connections would only wait. */
const CONNECTIONS = 4;
const AT_ONCE = 50;
const POLICY = 'arn:aws:iam::aws:policy/ReadOnlyAccess';
const ROLE = 'arn:aws:iam::123456789012:role/deploy';
const key = { access_key: 'AKIAEXAMPLEEXAMPLE00', secret_key: 'no-secret-of-anybody' };

export interface AwsFigures {
  readonly user: Figures;
  readonly userAndRevocation: Figures;
  readonly session: Figures;
  /** CPU of the same calls by the SDK in a process that does nothing else, in the same run: what is not ours. */
  readonly bareUserCpuMicros: number;
  readonly bareSessionCpuMicros: number;
  /** Sessions over 50 connections, of an STS that takes `delay` milliseconds for each. */
  readonly delayed: Figures;
  readonly delay: number;
  readonly mostAtOnce: number;
}

/** Credentials over HTTP against moto: a user with a policy, its key, its lease and both commits of the journal; sessions of a role. */
export async function awsCredentials(bench: BenchServer, seconds: number): Promise<AwsFigures> {
  const moto = await startMoto();
  const { target } = bench;
  // The SDK would write its plans for versions of Node between the figures.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  try {
    await once(target, 'POST', '/v1/sys/mounts/aws', { type: 'aws' });
    await configure(bench, moto.endpoint);
    await once(target, 'POST', '/v1/aws/roles/user', { credential_type: 'iam_user', policy_arns: POLICY });
    await once(target, 'POST', '/v1/aws/roles/deploy', { credential_type: 'assumed_role', role_arns: ROLE });
    const user = repeat(requestText('GET', '/v1/aws/creds/user', target.token), [200]);
    const session = repeat(requestText('GET', '/v1/aws/creds/deploy', target.token), [200]);
    const options = { connections: CONNECTIONS, seconds };
    await load('warm up', target, userAndRevocation(target.token), { connections: CONNECTIONS, seconds: 5 });
    await load('warm up', target, session, { connections: CONNECTIONS, seconds: 3 });
    const sessions = await load('aws sts', target, session, options);
    const bareSessionCpuMicros = await bareSessions(moto.endpoint, seconds);
    const pairs = await load('aws user+rev', target, userAndRevocation(target.token), options);
    const users = await load('aws user', target, user, options);
    const bareUserCpuMicros = await bareUsers(moto.endpoint, seconds);
    return {
      user: users,
      userAndRevocation: pairs,
      session: sessions,
      bareUserCpuMicros,
      bareSessionCpuMicros,
      ...(await delayedSessions(bench, session, seconds)),
    };
  } finally {
    await moto.stop();
  }
}

async function configure({ target }: BenchServer, endpoint: string): Promise<void> {
  await once(target, 'POST', '/v1/aws/config/root', { ...key, region: 'us-east-1', iam_endpoint: endpoint, sts_endpoint: endpoint });
}

function userAndRevocation(token: string): Operation {
  const ask = requestText('GET', '/v1/aws/creds/user', token);
  return async (connection) => {
    const made = await connection.send(ask);
    if (made.status !== 200) throw new Error(`creds: ${made.status} ${made.body.slice(0, 300)}`);
    const { lease_id } = JSON.parse(made.body) as { lease_id: string };
    const gone = await connection.send(requestText('PUT', '/v1/sys/leases/revoke', token, JSON.stringify({ lease_id, sync: true })));
    if (gone.status !== 204) throw new Error(`revoke: ${gone.status} ${gone.body.slice(0, 300)}`);
  };
}

/** Sessions of an STS that is slow: if none waits for another, each takes as long as STS does. */
async function delayedSessions(bench: BenchServer, session: Operation, seconds: number) {
  const delay = 250;
  const sts = await startDelayedSts(delay);
  try {
    await configure(bench, sts.endpoint);
    const options = { connections: AT_ONCE, seconds };
    await load('warm up', bench.target, session, { ...options, seconds: 1 });
    return { delayed: await load('aws sts 50', bench.target, session, options), delay, mostAtOnce: sts.mostAtOnce() };
  } finally {
    await sts.stop();
  }
}

async function bareUsers(endpoint: string, seconds: number): Promise<number> {
  const iam = new IAMClient(clientOptions(endpoint));
  let made = 0;
  return cpuOf(seconds, async () => {
    const UserName = `bare-${(made += 1)}`;
    await iam.send(new CreateUserCommand({ UserName, Path: '/', Tags: [{ Key: 'made', Value: 'by the bench' }] }));
    await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: POLICY }));
    await iam.send(new CreateAccessKeyCommand({ UserName }));
  });
}

async function bareSessions(endpoint: string, seconds: number): Promise<number> {
  const sts = new STSClient(clientOptions(endpoint));
  return cpuOf(seconds, async () => {
    await sts.send(new AssumeRoleCommand({ RoleArn: ROLE, RoleSessionName: 'bench', DurationSeconds: 3_600 }));
  });
}

function clientOptions(endpoint: string) {
  return { endpoint, region: 'us-east-1', credentials: { accessKeyId: key.access_key, secretAccessKey: key.secret_key } };
}

/** CPU of this process for each round of `work`, in microseconds, once it is warm. */
async function cpuOf(seconds: number, work: () => Promise<void>): Promise<number> {
  const during = async (span: number): Promise<number> => {
    const until = performance.now() + span * 1_000;
    let done = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        for (; performance.now() < until; done += 1) await work();
      }),
    );
    return done;
  };
  await during(3);
  const before = process.cpuUsage();
  const done = await during(seconds);
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / Math.max(1, done));
}
