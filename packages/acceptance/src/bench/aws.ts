import { AttachUserPolicyCommand, CreateAccessKeyCommand, CreateUserCommand, IAMClient } from '@aws-sdk/client-iam';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { startMoto } from '@strongroom/lab';
import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';
import { startEmulatedAws } from './emulated-aws.ts';

const CONNECTIONS = 16;
/** moto works on one call at a time; more would only wait. */
const MOTO_CONNECTIONS = 4;
const AT_ONCE = 50;
/** Milliseconds. */
const QUICK = 20;
const SLOW = 250;
const POLICY = 'arn:aws:iam::aws:policy/ReadOnlyAccess';
const ROLE = 'arn:aws:iam::123456789012:role/deploy';
const key = { access_key: 'AKIAEXAMPLEEXAMPLE00', secret_key: 'no-secret-of-anybody' };

export interface AwsFigures {
  /** A user with a policy and a key: three calls of IAM, its lease, both commits of the journal. */
  readonly user: Figures;
  /** A session of a role: one call of STS, and its lease. */
  readonly session: Figures;
  /** CPU of the same calls by the SDK in a process that does nothing else, in the same run: what is not ours. */
  readonly bareUserCpuMicros: number;
  readonly bareSessionCpuMicros: number;
  /** Sessions over 50 connections, of an STS that takes `delay` milliseconds for each; if none waits for another, each takes as long. */
  readonly slowSession: Figures;
  readonly delay: number;
  readonly mostAtOnce: number;
  /** A user made and removed at moto, which emulates IAM, and is slow. */
  readonly motoUserAndRevocation: Figures;
}

/** Credentials over HTTP, of an emulated AWS that costs no time of its own, then of moto. */
export async function awsCredentials(bench: BenchServer, seconds: number): Promise<AwsFigures> {
  // The SDK would write its plans for versions of Node between the figures.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const { target } = bench;
  await once(target, 'POST', '/v1/sys/mounts/aws', { type: 'aws' });
  await once(target, 'POST', '/v1/aws/roles/user', { credential_type: 'iam_user', policy_arns: POLICY });
  await once(target, 'POST', '/v1/aws/roles/deploy', { credential_type: 'assumed_role', role_arns: ROLE });
  return { ...(await ownWork(bench, seconds)), ...(await slowSessions(bench, seconds)), ...(await withMoto(bench, seconds)) };
}

async function ownWork(bench: BenchServer, seconds: number) {
  const { target } = bench;
  const aws = await startEmulatedAws(QUICK);
  try {
    await configure(bench, aws.endpoint);
    const options = { connections: CONNECTIONS, seconds };
    const users = repeat(requestText('GET', '/v1/aws/creds/user', target.token), [200]);
    const sessions = sessionsOf(bench);
    for (const operation of [users, sessions]) await load('warm up', target, operation, options);
    const user = await load('aws user', target, users, options);
    const bareUserCpuMicros = await bareUsers(aws.endpoint, seconds);
    const session = await load('aws sts', target, sessions, options);
    return { user, bareUserCpuMicros, session, bareSessionCpuMicros: await bareSessions(aws.endpoint, seconds) };
  } finally {
    aws.stop();
  }
}

async function slowSessions(bench: BenchServer, seconds: number) {
  const aws = await startEmulatedAws(SLOW);
  try {
    await configure(bench, aws.endpoint);
    const sessions = sessionsOf(bench);
    await load('warm up', bench.target, sessions, { connections: AT_ONCE, seconds: 1 });
    const slowSession = await load('aws sts slow', bench.target, sessions, { connections: AT_ONCE, seconds });
    return { slowSession, delay: SLOW, mostAtOnce: await aws.mostAtOnce() };
  } finally {
    aws.stop();
  }
}

async function withMoto(bench: BenchServer, seconds: number) {
  const { target } = bench;
  const moto = await startMoto();
  try {
    await configure(bench, moto.endpoint);
    const operation = userAndRevocation(target.token);
    await load('warm up', target, operation, { connections: MOTO_CONNECTIONS, seconds: 2 });
    return { motoUserAndRevocation: await load('moto user+rev', target, operation, { connections: MOTO_CONNECTIONS, seconds }) };
  } finally {
    await moto.stop();
  }
}

async function configure({ target }: BenchServer, endpoint: string): Promise<void> {
  await once(target, 'POST', '/v1/aws/config/root', { ...key, region: 'us-east-1', iam_endpoint: endpoint, sts_endpoint: endpoint });
}

function sessionsOf({ target }: BenchServer): Operation {
  return repeat(requestText('GET', '/v1/aws/creds/deploy', target.token), [200]);
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

async function bareUsers(endpoint: string, seconds: number): Promise<number> {
  const iam = new IAMClient(clientOptions(endpoint));
  const UserName = 'bare';
  return cpuOf(seconds, async () => {
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
  await during(seconds);
  const before = process.cpuUsage();
  const done = await during(seconds);
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / Math.max(1, done));
}
