import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { Associations } from './associations.ts';
import { DestinationTypes } from './destination-types.ts';
import { Destinations } from './destinations.ts';
import { Drift } from './drift.ts';
import { DriftFindings } from './drift-findings.ts';
import { Fingerprints } from './fingerprints.ts';
import { SecretSubscribers } from './secret-subscribers.ts';
import { Pacer } from './pacer.ts';
import { accountPaths } from './path-accounts.ts';
import { associationPaths } from './path-associations.ts';
import { configPath } from './path-config.ts';
import { destinationPaths } from './path-destinations.ts';
import { driftPaths } from './path-drift.ts';
import { namesOutsidePath } from './path-names.ts';
import { Reconciliation } from './reconciliation.ts';
import { destinationOf, syncTarget } from './records.ts';
import { Retries } from './retries.ts';
import { Rules } from './rules.ts';
import { Sessions } from './sessions.ts';
import { Sweep } from './sweep.ts';
import { SyncEntry, SyncQueue, type SyncJob } from './sync-queue.ts';
import { SyncRun } from './sync-run.ts';

/** Secret sync: copies secrets of version-2 key-value mounts to destinations outside, and keeps them as they are inside. */
export const syncEngine: EnginePackage = {
  name: 'sync',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  system: { path: 'sys/sync/', feature: 'secrets-sync' },
  subscribesToSecrets: true,
  create: createSyncEngine,
};

function createSyncEngine(host: EngineHost): Engine {
  const sources = host.sources!;
  const types = new DestinationTypes(host);
  const pacer = new Pacer(host.clock);
  const sessions = new Sessions(host, types, pacer);
  const fingerprints = new Fingerprints(host);
  const queue = new SyncQueue(host, () => job);
  const run = new SyncRun({ host, sources, types, sessions, pacer, fingerprints, queue });
  const job: SyncJob = {
    kind: 'sync',
    entry: SyncEntry,
    target: ({ place }) => syncTarget(place),
    about: async ({ association: id }) => associations.about(id),
    run: async (entry, _storage, signal) => run.job(entry, signal),
  };
  const retries = new Retries(host, queue);
  const destinations = new Destinations(host, sessions, queue, retries);
  const subscribers: SecretSubscribers = new SecretSubscribers(host, queue, destinations, async (mount, names) =>
    rules.bring(mount, names),
  );
  const associations = new Associations(host, sources, queue, subscribers);
  const rules = new Rules({ host, sources, queue, associations, subscribers, types });
  const drift = new Drift(host, sources, sessions, fingerprints);
  const reconciliation = new Reconciliation(host, sessions, queue, drift, async (destination) => rules.schedule(destination));
  const findings = new DriftFindings(host);
  const sweep = new Sweep(host, sources, queue);
  return {
    paths: [
      configPath(host, sweep),
      ...destinationPaths(host, types, destinations, reconciliation, sessions),
      ...associationPaths(host, types, associations, rules, run),
      namesOutsidePath(host, types, associations),
      ...driftPaths(host, types, associations, drift, reconciliation, findings),
      ...accountPaths(host, types, retries, reconciliation),
    ],
    schedules: [job, retries.job, reconciliation.job, subscribers.unmountedJob, subscribers.ruledJob, rules.job, sweep.job],
    subscriber: subscribers,
    system: destinationOf,
    failing: async (limit) => findings.things(limit),
    initialize: async () => {
      await subscribers.load();
      await sweep.beginIfNeeded();
      await rules.schedule();
    },
    invalidate: (key) => subscribers.invalidate(key),
    close: async () => {
      await run.close();
      await sessions.close();
    },
  };
}
