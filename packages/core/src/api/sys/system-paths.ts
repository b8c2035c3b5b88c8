import { randomBytes } from 'node:crypto';
import { BadRequest, type AnyPath } from '@strongroom/engine-sdk';
import { keyPaths } from './path-keys.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { Services } from '../../services/services.ts';
import { insist } from '../../services/ceremony/insist.ts';
import { orderReload, reloadPlugins } from '../../services/mounts/plugin-reload.ts';
import type { ConsoleSettings } from '../../services/settings/console-settings.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { PolicyOperation } from '../../services/policies/capability.ts';
import { admittedPath } from '../../kernel/call/admitted-path.ts';
import { canonicalPath } from '../../kernel/mounts/canonical-path.ts';
import { decodeTokenPath } from './path-decode-token.ts';
import { generateRootPaths } from './path-generate-root.ts';
import { legacyGenerateRootPaths } from './path-legacy-generate-root.ts';
import { legacyRekeyPaths } from './path-legacy-rekey.ts';
import { rekeyPaths } from './path-rekey.ts';
import { shareBackupPaths } from './path-share-backup.ts';
import { openSealPaths, sealPaths, type SealPathDeps } from './path-seal.ts';
import { sealRewrapPath } from './path-seal-backends.ts';
import { wrappingPaths } from './path-wrapping.ts';
import { absentEnginePaths } from './path-absent-engines.ts';
import { activationFlagPaths } from './path-activation-flags.ts';
import { attentionPaths } from './path-attention.ts';
import { auditPaths } from './path-audit.ts';
import { circuitPaths } from './path-circuits.ts';
import { capabilityPaths } from './path-capabilities.ts';
import { consoleSettingsPaths } from './path-console-settings.ts';
import { counterPaths } from './path-counters.ts';
import { corsPaths } from './path-cors.ts';
import { eventPaths } from './path-events.ts';
import { figurePaths } from './path-figures.ts';
import { hostInfoPaths } from './path-host-info.ts';
import { importPaths } from './path-imports.ts';
import { inFlightPaths } from './path-in-flight.ts';
import { internalUiPaths } from './path-internal-ui.ts';
import { leaseOverviewPaths } from './path-lease-overview.ts';
import { leasePaths } from './path-leases.ts';
import { lockedUserPaths } from './path-locked-users.ts';
import { loginMethodPaths } from './path-login-methods.ts';
import { loggerPaths } from './path-loggers.ts';
import { mfaPaths } from './path-mfa.ts';
import { monitorPaths } from './path-monitor.ts';
import { mountPaths } from './path-mounts.ts';
import { pageHeaderPaths } from './path-page-headers.ts';
import { passwordPolicyPaths } from './path-password-policies.ts';
import { nodePaths } from './path-nodes.ts';
import { pluginPaths } from './path-plugins.ts';
import { policyPaths } from './path-policies.ts';
import { policyCheckPath } from './path-policy-check.ts';
import { policyExplanationPaths } from './path-policy-explanation.ts';
import { policyHoldersPath } from './path-policy-holders.ts';
import { quotaPaths } from './path-quotas.ts';
import { removalPaths } from './path-removals.ts';
import { requestHeaderPaths } from './path-request-headers.ts';
import { journalPaths } from './path-journal.ts';
import { schedulePaths } from './path-schedule.ts';
import { searchPaths } from './path-search.ts';
import { serverPaths } from './path-server.ts';
import { snapshotPaths } from './path-snapshot.ts';
import { snapshotSchedulePaths } from './path-snapshot-schedules.ts';
import { toolPaths } from './path-tools.ts';
import { versionHistoryPaths } from './path-version-history.ts';

/** What `sys/` shows of the server that runs the core. */
export interface SystemOptions {
  readonly sanitizedConfig?: () => Record<string, unknown>;
  readonly metrics?: (format: 'prometheus' | 'json') => Promise<string>;
  readonly console?: Partial<ConsoleSettings>;
}

export interface SystemParts {
  readonly kernel: Kernel;
  readonly services: Services;
  readonly sealing: SealPathDeps;
  newRootToken(): Promise<string>;
  /** See Lifecycle. */
  replaceStore(replace: () => Promise<void>): Promise<boolean>;
}

/** Every path of `sys/`: one file a noun, each given what it needs. */
export function systemPaths({ kernel, services, sealing, newRootToken, replaceStore }: SystemParts, options: SystemOptions): AnyPath[] {
  const { clock, barrier, outside, siblings } = kernel;
  const { mounts, plugins, access, audit, seal, rekeyings, rootGeneration, removals, lockout } = services;
  const canonical = (asked: string, operation: PolicyOperation) => {
    const path = admittedPath(asked.replace(/^\//, ''), operation);
    return canonicalPath(mounts, path) ?? { path };
  };
  const canonicalIfAny = (asked: string, operation: PolicyOperation) => {
    try {
      return canonical(asked, operation);
    } catch (error) {
      if (error instanceof BadRequest) return undefined;
      throw error;
    }
  };
  const needsSudo = (path: string): boolean => {
    const found = mounts.route(path);
    return found?.mount.router?.match(found.rest)?.path.declaration.about.access === 'sudo';
  };
  const aclOfToken = async (token: string) => access.aclOfToken(token);
  return [
    ...openSealPaths(sealing),
    ...sealPaths(sealing),
    sealRewrapPath(services),
    ...keyPaths({ barrier, rotation: services.rotation }),
    ...rekeyPaths({ rekeyings, rotateRootKey: async () => insist(async () => seal.replaceRootKey()) }),
    ...legacyRekeyPaths(rekeyings),
    ...shareBackupPaths(rekeyings),
    ...legacyGenerateRootPaths({ rootGeneration, newRootToken }),
    ...generateRootPaths({
      rootGeneration,
      newRootToken,
      permits: async (req, operation, path) => access.permits(internalOf(req).request, { operation, path: `sys/${path}` }),
    }),
    decodeTokenPath(),
    ...mountPaths({ mounts, removals }),
    ...removalPaths({ removals }),
    ...policyPaths(services),
    ...passwordPolicyPaths(services),
    ...capabilityPaths({
      aclOfToken,
      aclOfAccessor: async (accessor) => access.aclOfAccessor(accessor),
      aclOfCaller: async (req) => internalOf(req).acl!,
      canonical: (path) => canonicalIfAny(path, 'read'),
    }),
    ...policyExplanationPaths({ ...services, canonical, needsSudo }),
    policyCheckPath(),
    policyHoldersPath({ ...services, barrier, clock, canonical, needsSudo }),
    ...leasePaths({ ...services, now: () => clock.millis() }),
    ...leaseOverviewPaths({ ...services, now: () => clock.millis() }),
    ...wrappingPaths(services),
    ...mfaPaths(services),
    ...auditPaths({ broker: audit }),
    ...requestHeaderPaths({ headers: audit.headers }),
    ...corsPaths(services),
    ...pageHeaderPaths(services),
    ...counterPaths(services.counts),
    ...(services.logStreams ? monitorPaths({ logStreams: services.logStreams }) : []),
    ...quotaPaths(services),
    ...toolPaths({ randomBytes: (count) => randomBytes(count) }),
    ...lockedUserPaths({
      lockout,
      loginMounts: () =>
        mounts
          .list('auth')
          .filter((mount) => mount.countsLogins)
          .map((mount) => mount.record),
    }),
    ...internalUiPaths({ mounts, aclOfToken: async (token, address) => access.aclOfToken(token, address) }),
    ...attentionPaths({
      ...{ attention: services.attention, jobs: services.jobs, mounts, outside },
      aclOfToken: async (token, address) => access.aclOfToken(token, address),
      canonical: canonicalIfAny,
    }),
    ...searchPaths(services),
    ...consoleSettingsPaths(options.console),
    ...loginMethodPaths({ mounts }),
    ...inFlightPaths({ ...services, siblings }),
    ...figurePaths({ figures: services.figures, clock, node: services.nodes.id }),
    ...nodePaths(services),
    ...eventPaths(services),
    ...schedulePaths({ ...services, outside }),
    ...journalPaths(services),
    ...circuitPaths({ ...services, outside, siblings }),
    ...pluginPaths({
      catalogue: { list: () => plugins.usable, refused: () => plugins.refused, isBuiltIn: (plugin) => plugins.isBuiltIn(plugin) },
      reload: async (what) => reloadPlugins(services, what),
      reloadOthers: async (id, what) => {
        const others = (await services.nodes.list()).some(({ self, state }) => !self && state === 'active');
        if (others) await orderReload(kernel.store, id, what);
        return others;
      },
      ...{ clock, siblings },
    }),
    ...absentEnginePaths(plugins.absent),
    ...activationFlagPaths({ features: plugins.systemEngines().flatMap(({ system }) => system.feature ?? []) }),
    ...hostInfoPaths({ clock }),
    ...importPaths(services),
    ...snapshotPaths({ ...services, replaceStore }),
    ...snapshotSchedulePaths({ ...services, mount: () => mounts.at('sys/')!.uuid }),
    ...versionHistoryPaths({ history: services.versions }),
    ...(services.logLevels ? loggerPaths({ levels: services.logLevels }) : []),
    ...serverPaths({
      now: () => clock.now(),
      nodes: services.nodes,
      sanitizedConfig: options.sanitizedConfig ?? (() => ({})),
      metrics: options.metrics,
    }),
  ];
}
