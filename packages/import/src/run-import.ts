import { createHash } from 'node:crypto';
import { mapConcurrently } from '@strongroom/engine-sdk';
import { Carrier, type OnConflict } from './carrier.ts';
import { Checkpoint } from './checkpoint.ts';
import type { Context, Versions } from './context.ts';
import { ImportStopped, CallRefused } from './failures.ts';
import { findContent } from './find-engines.ts';
import { findIdentity } from './find-identity.ts';
import { findMounts } from './find-mounts.ts';
import { findPasswordPolicies, findPolicies, findTokenRoles } from './find-policies.ts';
import { findRest, findSystem } from './find-system.ts';
import { ImportRecord } from './import-record.ts';
import { MountMap } from './mount-map.ts';
import { Pace } from './pace.ts';
import { totalsOf, type Ends, type Report } from './report.ts';
import type { SecretsFile } from './secrets-file.ts';
import { RawStore } from './raw-store.ts';
import { Selection } from './selection.ts';
import { OWN_TOKEN, Server } from './server.ts';
import { nameOf, type Line, type Thing } from './thing.ts';
import type { Wire } from './wire.ts';

export interface ImportOrder {
  readonly source: { readonly wire: Wire; readonly address: string; readonly namespace: string };
  readonly target: { readonly wire: Wire; readonly address: string };
  readonly apply: boolean;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly versions: Versions;
  readonly undelete: boolean;
  readonly takeOver: boolean;
  /** Read the store of the source by `sys/raw`, too. */
  readonly raw?: boolean;
  /** `from` and `to` are paths of mounts; of login methods they begin with `auth/`. */
  readonly renames: readonly (readonly [from: string, to: string])[];
  readonly secrets: SecretsFile;
  readonly onConflict: OnConflict;
  readonly parallel: number;
  /** Requests a second to the source; undefined for as many as it answers. */
  readonly rate: number | undefined;
  readonly checkpoint: string | undefined;
  /** How many things are read again on both sides at the end. */
  readonly verify: number | 'all';
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly now: () => number;
}

/** Reads the source, and writes what it has to the target; without `apply`, says what would come of it. @throws ImportStopped before anything was read */
export async function runImport(order: ImportOrder): Promise<Report> {
  const { sleep, now } = order;
  const source = new Server({ role: 'source', wire: order.source.wire, sleep, pace: new Pace({ perSecond: order.rate, sleep, now }) });
  const target = new Server({ role: 'target', wire: order.target.wire, sleep, pace: new Pace({ perSecond: undefined, sleep, now }) });
  const there = await healthOf(source);
  const here = await healthOf(target);
  if (there.id === here.id) throw new ImportStopped('The source and the target are the same server');
  for (const server of [source, target]) await requireToken(server);

  const { namespace } = order.source;
  const id = namespace === '' ? there.id : `${there.id}.${createHash('sha256').update(namespace).digest('hex').slice(0, 8)}`;
  const ends: Ends = {
    source: { address: order.source.address, id, version: there.version, namespace },
    target: { address: order.target.address, version: here.version },
  };
  const checkpoint = new Checkpoint(order.apply ? order.checkpoint : undefined, `${id} ${here.id}`);
  await checkpoint.open();
  const context: Context = {
    ...{ source, target, checkpoint },
    selection: new Selection(order.include, order.exclude),
    map: new MountMap(order.renames.map(([from, to]) => [folder(from), folder(to)])),
    ...{ secrets: order.secrets, versions: order.versions, undelete: order.undelete },
    raw: order.raw ? new RawStore(source) : undefined,
    ...{ takeOver: order.takeOver, apply: order.apply, parallel: order.parallel, now },
  };
  await context.raw?.requireAccess();
  const objects: Line[] = [];
  const record = new ImportRecord({ target, source: id, address: order.source.address });
  const carrier = new Carrier({ context, record, onConflict: order.onConflict, hearer: { add: (line) => void objects.push(line) } });

  let stopped: string | undefined;
  let verified: Report['verified'];
  try {
    await carryAll(context, carrier, namespace);
    if (order.apply) {
      verified = await verify(carrier.carried, order.verify, order.parallel);
      await checkpoint.finish();
    }
  } catch (error) {
    if (!(error instanceof ImportStopped)) throw error;
    stopped = error.message;
  }
  return {
    ...ends,
    applied: order.apply,
    ...(stopped === undefined ? {} : { stopped }),
    objects,
    totals: totalsOf(objects),
    ...(verified ? { verified } : {}),
    calls: { source: source.calls, target: target.calls },
  };
}

/** In the order in which things name each other. A namespace has no settings of the server. */
async function carryAll(context: Context, carrier: Carrier, namespace: string): Promise<void> {
  await carrier.carry(findMounts(context), { ordered: true });
  await carrier.carry(findPasswordPolicies(context));
  await carrier.carry(findPolicies(context));
  await carrier.carry(findTokenRoles(context));
  await carrier.carry(findContent(context, 'kv'));
  await carrier.carry(findContent(context, 'engines'), { ordered: true });
  await carrier.carry(findContent(context, 'auth'), { ordered: true });
  await carrier.carry(findIdentity(context), { ordered: true });
  if (namespace === '') await carrier.carry(findSystem(context), { ordered: true });
  await carrier.carry(findRest(context));
}

function folder(path: string): string {
  return `${path.replace(/^\/+|\/+$/g, '')}/`;
}

async function healthOf(server: Server): Promise<{ id: string; version: string }> {
  const { status, body } = await server.bare('sys/health');
  const who = server.role;
  if (body['initialized'] === false) throw new ImportStopped(`The ${who} is not initialized`);
  if (body['sealed'] === true) throw new ImportStopped(`The ${who} is sealed: unseal it, then run the import again`);
  const id = body['cluster_id'];
  if (typeof id !== 'string' || id === '')
    throw new ImportStopped(`The ${who} does not say who it is (status ${status} of sys/health): is this the address of its API?`);
  return { id, version: String(body['version'] ?? '') };
}

async function requireToken(server: Server): Promise<void> {
  try {
    await server.read(OWN_TOKEN);
  } catch (error) {
    if (!(error instanceof CallRefused) || error.status !== 403) throw error;
    throw new ImportStopped(`The ${server.role} does not accept the token: ${error.errors.join('; ').trim() || 'permission denied'}`);
  }
}

/** A sample that is spread over everything, read again on both sides. */
async function verify(carried: readonly Thing[], wanted: number | 'all', parallel: number): Promise<NonNullable<Report['verified']>> {
  const step = wanted === 'all' ? 1 : Math.max(1, carried.length / Math.max(1, wanted));
  const sample = wanted === 0 ? [] : carried.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  const different: string[] = [];
  await mapConcurrently(sample, parallel, async (thing) => {
    if (!(await thing.verify())) different.push(nameOf(thing));
  });
  return { checked: sample.length, different };
}
