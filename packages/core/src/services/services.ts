import { hostname } from 'node:os';
import type { EnginePackage, Plugin } from '@strongroom/engine-sdk';
import { SYSTEM_TTL } from '../kernel/mounts/lease-terms.ts';
import type { Mount } from '../kernel/mounts/mount.ts';
import { CallsUnderWay } from '../kernel/call/calls-under-way.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { VERSION } from '../kernel/version.ts';
import type { StoreTransaction } from '../kernel/storage/store.ts';
import { randomBytes } from '../kernel/random/random-bytes.ts';
import { targetKey } from '../kernel/work/outside-systems.ts';
import { dueBound, SCHEDULE } from '../kernel/work/schedule-index.ts';
import { AccountRegistry } from './accounts/account-registry.ts';
import { Attention } from './attention/attention.ts';
import { MountTroubles } from './attention/mount-troubles.ts';
import { serverTroubles } from './attention/server-troubles.ts';
import { AuditBroker, type AuditDeviceConfig } from './audit/audit-broker.ts';
import type { AuditDevicePlugin } from './audit/audit-device.ts';
import { fileAudit } from './audit/file-device.ts';
import { httpAudit } from './audit/http-device.ts';
import { socketAudit } from './audit/socket-device.ts';
import { syslogAudit } from './audit/syslog-device.ts';
import { readStandingRights } from './caller/standing-rights.ts';
import { TokenAccess } from './caller/token-access.ts';
import { EventLog } from './events/event-log.ts';
import { Events } from './events/events.ts';
import { SharedEvents } from './events/shared-events.ts';
import { EventStreams } from './following/event-streams.ts';
import { EventView } from './following/event-view.ts';
import { LogStreams } from './following/log-streams.ts';
import type { FollowedLog } from './following/log-lines.ts';
import { KeyCount } from './figures/key-count.ts';
import { dueByKind } from './figures/due-figures.ts';
import { openFigures, type Figures } from './figures/figures.ts';
import { identityRecords } from './identity/identity-records.ts';
import { IdentityStore } from './identity/identity-store.ts';
import { ImportRecords } from './imports/import-records.ts';
import { FAILING as FAILING_JOBS, Jobs } from './jobs/jobs.ts';
import { intentRecords } from './journal/intent-record.ts';
import { Journal } from './journal/journal.ts';
import { IRREVOCABLE } from './leases/lease-index.ts';
import { LeaseStore } from './leases/lease-store.ts';
import type { LockoutDefaults } from './lockout/lockout-settings.ts';
import { UserLockout } from './lockout/user-lockout.ts';
import { LoginEnforcements } from './mfa/login-enforcements.ts';
import { SecondFactors } from './mfa/second-factors.ts';
import { TotpMethods } from './mfa/totp-methods.ts';
import { TotpSecrets } from './mfa/totp-secrets.ts';
import { WaitingLogins } from './mfa/waiting-logins.ts';
import { LeaseTimeline } from './overview/lease-timeline.ts';
import { LeaseTree } from './overview/lease-tree.ts';
import { loggerOf } from './mounts/mount-engines.ts';
import { MountTable } from './mounts/mount-table.ts';
import { MountView } from './mounts/mount-view.ts';
import { MountWatchers } from './mounts/mount-watchers.ts';
import { Nodes } from './nodes/nodes.ts';
import { mountIdentity } from './oidc/mount-identity.ts';
import { openOidc } from './oidc/open-oidc.ts';
import { PasswordPolicyStore } from './passwords/password-policy-store.ts';
import type { AbsentPlugin } from './plugins/absent-plugin.ts';
import { UsablePlugins } from './plugins/usable-plugins.ts';
import { PolicyStore } from './policies/policy-store.ts';
import { Removals } from './removal/removals.ts';
import { LeaseCaps } from './quotas/lease-caps.ts';
import type { Quotas } from './quotas/quotas.ts';
import { RateLimits } from './quotas/rate-limits.ts';
import type { Place } from '../kernel/share-of-limit.ts';
import { BulkRevoker } from './revocation/bulk-revoker.ts';
import { Cluster } from './seal/cluster.ts';
import { KeyRotation } from './seal/key-rotation.ts';
import { NameSearch } from './search/name-search.ts';
import type { ConfiguredSeal } from './seal/configured-seal.ts';
import { configuredKeySeal, type KeySeal } from './seal/key-seal.ts';
import { SealHealth } from './seal/seal-health.ts';
import { Seal } from './seal/seal.ts';
import { PgpKeys, type OpenPgp } from './ceremony/pgp-keys.ts';
import { Rekeying } from './ceremony/rekeying.ts';
import { RootGeneration } from './ceremony/root-generation.ts';
import { CorsConfig } from './settings/cors-config.ts';
import type { LogLevelStore } from './settings/log-levels.ts';
import { PageHeaders } from './settings/page-headers.ts';
import { SharedLogLevels } from './settings/shared-log-levels.ts';
import { VersionHistory } from './settings/version-history.ts';
import { LoginTokens } from './tokens/login-tokens.ts';
import { SnapshotPlaces } from './snapshots/snapshot-places.ts';
import { SnapshotSchedules } from './snapshots/snapshot-schedules.ts';
import { Snapshots } from './snapshots/snapshots.ts';
import { TokenCreation } from './tokens/token-creation.ts';
import { roleOfLogin } from './tokens/token-record.ts';
import { TokenRenewal } from './tokens/token-renewal.ts';
import { TokenRevoker } from './tokens/token-revoker.ts';
import { ACCESSORS, TokenStore } from './tokens/token-store.ts';
import { Wrapping } from './wrapping/wrapping.ts';

export interface ServiceOptions {
  readonly plugins?: readonly Plugin[];
  readonly externalPlugins?: readonly Plugin[];
  readonly absentPlugins?: readonly AbsentPlugin[];
  readonly seals?: readonly ConfiguredSeal[];
  readonly seal?: KeySeal;
  readonly pgp?: () => Promise<OpenPgp | undefined>;
  readonly defaultLeaseTtl?: number;
  readonly maxLeaseTtl?: number;
  readonly apiAddress?: string;
  readonly audit?: Readonly<Record<string, AuditDeviceConfig>>;
  readonly auditEmergencyDisable?: readonly string[];
  readonly lockout?: LockoutDefaults;
  readonly followedLog?: FollowedLog;
  readonly logLevels?: LogLevelStore;
}

/** Where services keep their records that have no mount. Caches of these are invalidated by the prefix. */
export const PREFIXES = {
  policies: 'core/policies/',
  identity: 'core/identity/',
  audit: 'core/audit/',
  lockout: 'core/lockout/',
  system: 'core/system/',
  quotas: 'core/quotas/',
} as const;

/** Due entries of the schedule are counted so far. */
const MOST_BACKLOG = 10_000;

/** The second floor: everything the server keeps and looks after, without any request. */
export type Services = ReturnType<typeof openServices>;

/** `builtIn`: the engines of `sys/`, `identity/`, `cubbyhole/` and `auth/token/` by type, complete before the first unseal. */
export function openServices(kernel: Kernel, options: ServiceOptions, builtIn: ReadonlyMap<string, EnginePackage>) {
  const { clock, log, loggers, driver, barrier, store, incarnations, outside, runner, siblings } = kernel;
  const expiration = loggers.named('expiration');
  const limits = { defaultLeaseTtl: options.defaultLeaseTtl ?? SYSTEM_TTL, maxLeaseTtl: options.maxLeaseTtl ?? SYSTEM_TTL };
  const plugins = new UsablePlugins(options.plugins ?? [], { external: options.externalPlugins, absent: options.absentPlugins });
  for (const { reason } of plugins.refused) log.error('a plugin is refused; the server goes on without it', { reason });

  const mountOf = (uuid: string): Mount | undefined => mounts.byUuid(uuid);
  const events = new Events({ clock, log });
  const eventLog = new EventLog();
  const node = hostname();
  const sharedEvents = new SharedEvents({
    ...{ store, driver, clock, timer: kernel.livenessClock, log, incarnations, events, known: eventLog, node },
  });
  incarnations.handsOn(sharedEvents);
  eventLog.listen(({ life, event }) => {
    if (event && life !== incarnations.id) figures.leases.event(event);
  });
  const counted = (prefix: string): KeyCount =>
    new KeyCount({
      clock,
      log,
      keys: async ({ after, limit }) => store.keys({ prefix, limit, ...(after === undefined ? {} : { after }) }),
    });
  const counts = { tokens: counted(ACCESSORS), entities: counted(`${PREFIXES.identity}entity/`) };
  const figures: Figures = openFigures({
    ...{ events, clock, log, timer: kernel.livenessClock },
    leaseIds: async (prefix, query) => leases.ids(prefix, query),
    mountOf: (path) => mounts.route(path)?.mount.uuid,
    aboveLogins: (uuid) => [`sys/${mounts.byUuid(uuid)?.path.slice(0, -1)}`, 'sys/locked-users'],
    circuitsOpen: () => outside.breakers.open().length,
    waiting: async () => {
      const now = clock.millis();
      const count = async (prefix: string): Promise<number> => (await store.keys({ prefix, limit: MOST_BACKLOG })).length;
      const due = dueByKind(await store.keys({ prefix: SCHEDULE, before: dueBound(now), limit: MOST_BACKLOG }), now);
      return {
        snapshots: await snapshotSchedules.figures(),
        due,
        failingJobs: await count(FAILING_JOBS),
        irrevocableLeases: await count(IRREVOCABLE),
        openIntents: await count(intentRecords.prefix),
      };
    },
    counts: Object.values(counts),
  });
  outside.breakers.onChange((target, state) => {
    const slash = target.indexOf('/');
    events.publish({ kind: `circuit.${state}`, mount: target.slice(0, slash), paths: ['failing'], name: target.slice(slash + 1) });
  });
  const jobs = new Jobs({
    ...{ incarnations, store, clock, log, outside, mount: mountOf },
    counted: (mount, kind, result) => figures.counters.countJob(mount, kind, result),
  });
  const journal = new Journal({
    ...{ incarnations, store, clock, log, outside, mount: mountOf },
    counted: (mount, what) => figures.counters.count(mount, what),
  });
  const leases = new LeaseStore({ incarnations, store, clock, log: expiration, outside, journal, events, mount: mountOf });
  const works = [leases.work, journal.work, jobs.work];
  for (const work of works) incarnations.handsOn(work);
  const tokens = new TokenStore({ store, barrier, clock, log });
  const revoker = new TokenRevoker({ tokens, leases, store, log: expiration });
  incarnations.handsOn(revoker);
  const bulk = new BulkRevoker({ leases, tokens: revoker, log: expiration });

  const accounts = new AccountRegistry({ store, log, mount: mountOf });
  const watchers = new MountWatchers({ byUuid: mountOf, watchers: () => mounts.watchers() });
  const scope = { store, journal, jobs, watchers, accounts, events };
  const view = (prefix: string): MountView => new MountView({ ...scope, uuid: prefix, prefix });
  const policies = new PolicyStore({
    ...{ storage: view(PREFIXES.policies), clock },
    changed: (name, change, request) =>
      events.publish({
        kind: `policy.${change}`,
        above: [`sys/policies/acl/${name}`],
        name,
        ...(request === undefined ? {} : { request }),
      }),
  });
  const passwords = new PasswordPolicyStore({ storage: view(PREFIXES.policies), randomBytes: (count) => randomBytes(count) });
  const identityView = view(PREFIXES.identity);
  const identity = new IdentityStore({
    storage: identityView,
    clock,
    log,
    mounts: { byAccessor: (accessor) => mounts.byAccessor(accessor) },
  });
  const audit = new AuditBroker({
    storage: view(PREFIXES.audit),
    clock,
    log: loggers.named('audit'),
    plugins: [
      fileAudit,
      socketAudit,
      syslogAudit,
      httpAudit,
      ...plugins.usable.filter((plugin): plugin is AuditDevicePlugin => plugin.kind === 'audit'),
    ],
    ...(options.audit ? { configured: options.audit } : {}),
    ...(options.auditEmergencyDisable ? { emergencyDisable: options.auditEmergencyDisable } : {}),
  });
  const lockout = new UserLockout({ storage: view(PREFIXES.lockout), clock, ...(options.lockout ? { defaults: options.lockout } : {}) });

  /** An outside system is back, or an operator says so: what failed at it is due now. */
  const retryOutside = async (mount: string, target: string): Promise<void> => {
    outside.breakers.succeeded(targetKey(mount, target));
    for (const work of works) await work.retryTarget(mount, target);
  };
  const mounts: MountTable = new MountTable({
    ...{ scope, clock, log, loggers, plugins, outside, siblings, builtIn, events },
    system: limits,
    generatePassword: async (policy) => passwords.generate(policy),
    identity: (mount) => mountIdentity(oidc, mount),
    isLocked: async (mount, name) => lockout.isLocked(mount, name),
    mayReadWith: async (rights, path) => (await access.aclOfRights(readStandingRights(rights))).check({ operation: 'read', path }).allowed,
    clusterId: () => cluster.identity?.id,
    retry: retryOutside,
    revokeBelow: async (path) => bulk.revoke(path.slice(0, -1)),
  });
  const oidc = openOidc({
    storage: () => mounts.at('identity/')!.storage,
    ...{ identity, barrier, clock },
    apiAddress: options.apiAddress ?? '',
  });
  const identityWithin = (tx: StoreTransaction) => identityRecords(identityView.within(tx));
  const mfa = {
    methods: new TotpMethods(store),
    secrets: new TotpSecrets({ store, clock, identity: { within: identityWithin, currentId: async (id) => identity.currentId(id) } }),
    enforcements: new LoginEnforcements({ store, identity, mounts }),
    factors: new SecondFactors({ clock, within: identityWithin }),
    waiting: new WaitingLogins({ store, clock }),
  };
  const removals = new Removals({
    ...{ store, clock, log, bulk, journal, accounts, mounts },
    forget: async (mount) => {
      await jobs.forgetMount(mount.uuid);
      figures.counters.forgetMount(mount.uuid);
      figures.denied.forgetMount(mount.uuid);
      figures.timings.forgetMount(mount.uuid);
      loggers.forget(loggerOf(mount));
      await accounts.forgetMount(mount.uuid);
      await quotas.rates.rules.forgetMount(mount.uuid);
      await quotas.leases.rules.forgetMount(mount.uuid);
      if (mount.class !== 'auth') return;
      await identity.aliasesOfMountRemoved(mount.accessor);
      await lockout.forgetMount(mount.accessor);
    },
  });
  for (const [kind, service] of Object.entries({ lease: leases, token: revoker, job: jobs, intent: journal, removal: removals }))
    runner.handle(kind as Parameters<typeof runner.handle>[0], async (entry, signal) => service.run(entry, signal));
  runner.handle('tombstone', async (entry, signal) => revoker.runTombstone(entry, signal));
  runner.handle('login', async (entry) => mfa.waiting.run(entry));

  const place = (): Place => incarnations.place;
  const quotas: Quotas = {
    rates: new RateLimits({ storage: view(PREFIXES.quotas), clock, place }),
    leases: new LeaseCaps({
      ...{ storage: view(PREFIXES.quotas), clock, place, mount: mountOf },
      ids: async (prefix, query) => leases.ids(prefix, query),
      roleOfToken: async (digest) => roleOfLogin((await tokens.byDigest(digest))?.record),
    }),
  };

  const seal = new Seal({
    driver,
    barrier,
    configured: options.seals ?? (options.seal ? [configuredKeySeal(options.seal)] : []),
    clock: kernel.livenessClock,
    log,
  });
  const access = new TokenAccess({ tokens, policies, identity });
  const underWay = new CallsUnderWay();
  const nodes = new Nodes({
    ...{ store, driver, clock, timer: kernel.livenessClock, log },
    facts: {
      ...{ hostname: node, address: options.apiAddress ?? '', version: VERSION },
      ...(siblings.server === undefined ? {} : { server: siblings.server }),
    },
    activity: () => ({ requests: underWay.size, work: runner.busy, incarnation: incarnations.id }),
    living: () => incarnations.others,
    runs: async (incarnation) => incarnations.runs(incarnation),
  });

  const cluster = new Cluster(options.apiAddress ?? '', clock.now());
  const sealHealth = new SealHealth({ seal, driver, clock: kernel.livenessClock, now: () => clock.now(), log });
  const attention = new Attention({
    ...{ clock, outside },
    mounts: () => mounts.all(),
    atMounts: new MountTroubles({ clock, log, jobs, outside }),
    ofServer: serverTroubles({ ...{ clock, store, audit, journal, leases, nodes, plugins, removals, sealHealth, tokens }, mount: mountOf }),
  });

  const snapshots = new Snapshots({ driver, barrier, cluster, clock, log });
  const snapshotPlaces = new SnapshotPlaces(plugins);
  const snapshotSchedules: SnapshotSchedules = new SnapshotSchedules({
    ...{ snapshots, places: snapshotPlaces, clock, log: loggers.named('snapshots') },
    storage: () => mounts.at('sys/')!.storage,
    closeCircuit: (target) => outside.breakers.close(targetKey(mounts.at('sys/')!.uuid, target)),
  });

  const pgpKeys = new PgpKeys(options.pgp, clock);
  const ceremony = { seal, store, clock, log, pgp: pgpKeys };

  return {
    ...{
      plugins,
      jobs,
      journal,
      leases,
      tokens,
      revoker,
      bulk,
      policies,
      passwords,
      identity,
      mfa,
      audit,
      lockout,
      mounts,
      removals,
      quotas,
      attention,
      events,
      sharedEvents,
      figures,
      nodes,
      underWay,
      counts,
    },
    retryOutside,
    access,
    streams: new EventStreams({
      clock,
      barrier,
      copies: kernel.copies,
      tokens,
      access,
      log: eventLog,
      view: new EventView(mounts),
      node: nodes.id,
    }),
    logLevels: options.logLevels && new SharedLogLevels(options.logLevels, siblings),
    logStreams: options.followedLog && new LogStreams({ clock, access, log: options.followedLog }),
    creation: new TokenCreation({ store, tokens, revoker, policies, identity, clock }),
    oidc,
    renewal: new TokenRenewal({ tokens, identity, clock, mount: mountOf, tokenMount: () => mounts.at('auth/token/')! }),
    logins: new LoginTokens({
      ...{ store, tokens, identity, clock, mfa },
      mount: mountOf,
      counted: (mount, result) => {
        figures.counters.count(mount, `logins_${result}`);
        if (result === 'denied') figures.denied.count(mount);
      },
      reserve: async (login) => quotas.leases.reserveLogin(login),
    }),
    leaseTimeline: new LeaseTimeline({ store, tokens }),
    leaseTree: new LeaseTree({ store, tokens }),
    wrapping: new Wrapping({ store, tokens, revoker, clock, maxTtl: limits.maxLeaseTtl }),
    ...{ seal, pgpKeys },
    sealHealth,
    rekeyings: [new Rekeying('root', ceremony), new Rekeying('recovery', ceremony)],
    rootGeneration: new RootGeneration(ceremony),
    rotation: new KeyRotation({ barrier, store, clock }),
    cluster,
    ...{ snapshots, snapshotPlaces, snapshotSchedules },
    search: new NameSearch({ mounts, clock, log }),
    cors: new CorsConfig(view(PREFIXES.system)),
    imports: new ImportRecords({ storage: view(PREFIXES.system), clock }),
    pageHeaders: new PageHeaders(view(PREFIXES.system)),
    versions: new VersionHistory(view(PREFIXES.system), clock),
    /** The part of the store that belongs to `sys/` before there is a mount table. */
    systemView: view(PREFIXES.system),
  };
}
