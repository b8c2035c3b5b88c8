import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { BadRequest, type AnyPath, type Clock } from '@strongroom/engine-sdk';
import type { AuditBroker } from '../../services/audit/audit-broker.ts';
import type { Barrier } from '../../kernel/barrier/barrier.ts';
import { keyPaths } from './path-keys.ts';
import type { KeyRotation } from '../../services/seal/key-rotation.ts';
import type { LogLevelStore } from '../../services/settings/log-levels.ts';
import type { Journal } from '../../services/journal/journal.ts';
import type { BulkRevoker } from '../../services/revocation/bulk-revoker.ts';
import type { LeaseStore } from '../../services/leases/lease-store.ts';
import type { UserLockout } from '../../services/lockout/user-lockout.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import type { PasswordPolicyStore } from '../../services/passwords/password-policy-store.ts';
import type { UsablePlugins } from '../../services/plugins/usable-plugins.ts';
import type { PolicyStore } from '../../services/policies/policy-store.ts';
import type { TokenAccess } from '../../services/caller/token-access.ts';
import type { CallsUnderWay } from '../../kernel/call/calls-under-way.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { PolicyOperation } from '../../services/policies/capability.ts';
import { admittedPath } from '../../kernel/call/admitted-path.ts';
import { canonicalPath } from '../../kernel/mounts/canonical-path.ts';
import type { Removals } from '../../services/removal/removals.ts';
import type { Jobs } from '../../services/jobs/jobs.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import { decodeTokenPath, generateRootPaths } from './path-generate-root.ts';
import { rekeyPaths } from './path-rekey.ts';
import { retiredKeyPaths } from './path-retired.ts';
import { openSealPaths, sealPaths, type SealPathDeps } from './path-seal.ts';
import type { TokenRevoker } from '../../services/tokens/token-revoker.ts';
import type { TokenStore } from '../../services/tokens/token-store.ts';
import { wrappingPaths } from './path-wrapping.ts';
import type { Wrapping } from '../../services/wrapping/wrapping.ts';
import type { CorsConfig } from '../../services/settings/cors-config.ts';
import { absentEnginePaths } from './path-absent-engines.ts';
import { activationFlagPaths } from './path-activation-flags.ts';
import { auditPaths } from './path-audit.ts';
import { capabilityPaths } from './path-capabilities.ts';
import { corsPaths } from './path-cors.ts';
import { hostInfoPaths } from './path-host-info.ts';
import { inFlightPaths } from './path-in-flight.ts';
import { internalUiPaths } from './path-internal-ui.ts';
import { leasePaths } from './path-leases.ts';
import { lockedUserPaths } from './path-locked-users.ts';
import { loggerPaths } from './path-loggers.ts';
import { mountPaths } from './path-mounts.ts';
import { passwordPolicyPaths } from './path-password-policies.ts';
import { pluginPaths } from './path-plugins.ts';
import { policyPaths } from './path-policies.ts';
import { policyExplanationPaths } from './path-policy-explanation.ts';
import { removalPaths } from './path-removals.ts';
import { requestHeaderPaths } from './path-request-headers.ts';
import { schedulePaths } from './path-schedule.ts';
import { serverPaths } from './path-server.ts';
import { toolPaths } from './path-tools.ts';
import { versionHistoryPaths } from './path-version-history.ts';
import type { VersionHistory } from '../../services/settings/version-history.ts';

/** The rooms of the core that `sys/` speaks for. */
export interface SystemParts {
  readonly logLevels: LogLevelStore | undefined;
  readonly sanitizedConfig: (() => Record<string, unknown>) | undefined;
  readonly metrics: (() => Promise<string>) | undefined;
  readonly clock: Clock;
  readonly sealing: SealPathDeps;
  readonly barrier: Barrier;
  readonly rotation: KeyRotation;
  readonly mounts: MountTable;
  readonly plugins: UsablePlugins;
  readonly policies: PolicyStore;
  readonly passwords: PasswordPolicyStore;
  readonly access: TokenAccess;
  readonly tokens: TokenStore;
  readonly leases: LeaseStore;
  readonly revoker: TokenRevoker;
  readonly bulk: BulkRevoker;
  readonly removals: Removals;
  readonly jobs: Jobs;
  readonly journal: Journal;
  readonly outside: OutsideSystems;
  readonly wrapping: Wrapping;
  readonly audit: AuditBroker;
  readonly cors: CorsConfig;
  readonly lockout: UserLockout;
  readonly underWay: CallsUnderWay;
  readonly versions: VersionHistory;
  newRootToken(): Promise<string>;
  reloadPlugins(what: { plugin?: string; mounts?: readonly string[] }): Promise<void>;
}

/** Every path of `sys/`. */
export function systemPaths(parts: SystemParts): AnyPath[] {
  const {
    logLevels,
    sanitizedConfig,
    metrics,
    clock,
    sealing,
    mounts,
    plugins,
    policies,
    passwords,
    access,
    tokens,
    leases,
    revoker,
    bulk,
  } = parts;
  const { barrier, rotation, removals, jobs, journal, outside, wrapping, audit, cors, lockout, underWay, versions } = parts;
  const { seal, cluster } = sealing;
  const canonical = (asked: string, operation: PolicyOperation) => {
    const path = admittedPath(asked.replace(/^\//, ''), operation);
    return canonicalPath(mounts, path) ?? { path };
  };
  const aclOfToken = async (token: string) => access.aclOfToken(token);
  return [
    ...openSealPaths(sealing),
    ...sealPaths(sealing),
    ...keyPaths({ barrier, rotation }),
    ...retiredKeyPaths(),
    ...rekeyPaths({ seal, rotateRootKey: async () => seal.replaceRootKey() }),
    ...generateRootPaths({
      seal,
      clock,
      newRootToken: async () => parts.newRootToken(),
      permits: async (req, operation, path) => access.permits(internalOf(req).request, { operation, path: `sys/${path}` }),
    }),
    decodeTokenPath(),
    ...mountPaths({ mounts, removals }),
    ...removalPaths({ removals }),
    ...policyPaths({ policies }),
    ...passwordPolicyPaths({ passwords }),
    ...capabilityPaths({
      aclOfToken,
      aclOfAccessor: async (accessor) => access.aclOfAccessor(accessor),
      aclOfCaller: async (req) => internalOf(req).acl!,
      canonical: (path) => {
        try {
          return canonical(path, 'read');
        } catch (error) {
          if (error instanceof BadRequest) return undefined;
          throw error;
        }
      },
    }),
    ...policyExplanationPaths({
      aclOfToken,
      canonical,
      needsSudo: (path) => {
        const found = mounts.route(path);
        return found?.mount.router?.match(found.rest)?.path.declaration.about.access === 'sudo';
      },
    }),
    ...leasePaths({ leases, tokens, revoker, bulk, now: () => clock.millis() }),
    ...wrappingPaths({ wrapping }),
    ...auditPaths({ broker: audit }),
    ...requestHeaderPaths({ headers: audit.headers }),
    ...corsPaths({ cors }),
    ...toolPaths({ randomBytes: (count) => randomBytes(count) }),
    ...lockedUserPaths({ lockout, authMounts: () => mounts.list('auth').map((mount) => mount.record) }),
    ...internalUiPaths({ mounts, aclOfToken: async (token, address) => access.aclOfToken(token, address) }),
    ...inFlightPaths({ underWay }),
    ...schedulePaths({ jobs, journal, outside, mounts }),
    ...pluginPaths({
      catalogue: { list: () => plugins.usable, refused: () => plugins.refused, isBuiltIn: (plugin) => plugins.isBuiltIn(plugin) },
      reload: async (what) => parts.reloadPlugins(what),
      clock,
    }),
    ...absentEnginePaths(plugins.absent),
    ...activationFlagPaths({ features: plugins.systemEngines().flatMap(({ system }) => system.feature ?? []) }),
    ...hostInfoPaths({ clock }),
    ...versionHistoryPaths({ history: versions }),
    ...(logLevels ? loggerPaths({ levels: logLevels }) : []),
    ...serverPaths({
      cluster,
      now: () => clock.now(),
      hostname: hostname(),
      sanitizedConfig: sanitizedConfig ?? (() => ({})),
      metrics,
    }),
  ];
}
