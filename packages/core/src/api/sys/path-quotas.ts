import { BadRequest, f, namesPath, path, type AnyPath } from '@strongroom/engine-sdk';
import type { MountFinder } from '../../kernel/mounts/canonical-path.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { quotaScope, type QuotaScope } from '../../services/quotas/quota-scope.ts';
import type { Quotas } from '../../services/quotas/quotas.ts';

export interface QuotaPathDeps {
  readonly quotas: Quotas;
  readonly mounts: MountFinder & { byUuid(uuid: string): Mount | undefined };
}

const scopeFields = {
  name: f.name('Name of the quota.'),
  path: f.string('What is counted: a mount, a path below one, or the beginning of such paths and *. Empty: everything.', { default: '' }),
  role: f.string('Counts only this role of the mount.', { default: '' }),
};

/** `sys/quotas`. */
export function quotaPaths({ quotas, mounts }: QuotaPathDeps): AnyPath[] {
  const shownPath = ({ mount, mount_path, suffix }: QuotaScope): string => (mounts.byUuid(mount)?.path ?? mount_path) + suffix;
  return [settingsPath(quotas), ...rateLimitPaths({ quotas, mounts }, shownPath), ...leaseCountPaths({ quotas, mounts }, shownPath)];
}

function settingsPath({ rates: { settings } }: Quotas): AnyPath {
  return path('quotas/config', {
    synopsis: 'What holds for all rate limits.',
    description:
      'A write replaces all three settings. Before the first write, the paths that unseal a server and show its health are exempt.',
    fields: {
      enable_rate_limit_audit_logging: f.bool('Audit devices also get the requests that a rate limit refuses.', { default: false }),
      enable_rate_limit_response_headers: f.bool('Answers tell the client its limit: X-Ratelimit-Limit, -Remaining and -Reset.', {
        default: false,
      }),
      rate_limit_exempt_paths: f.commaStrings('Paths that no rate limit counts; * at the end stands for anything.', { default: [] }),
    },
  })
    .read({ summary: 'Read the settings of quotas.', handle: async () => ({ data: settings.config }) })
    .update({
      summary: 'Replace the settings of quotas.',
      handle: async ({ data }) => {
        await settings.replace({
          enable_rate_limit_audit_logging: data.enable_rate_limit_audit_logging,
          enable_rate_limit_response_headers: data.enable_rate_limit_response_headers,
          rate_limit_exempt_paths: data.rate_limit_exempt_paths.map((entry) => entry.replace(/^\/+/, '')),
        });
        return undefined;
      },
    });
}

function rateLimitPaths({ quotas, mounts }: QuotaPathDeps, shownPath: (scope: QuotaScope) => string): AnyPath[] {
  const { rules } = quotas.rates;
  return [
    namesPath('quotas/rate-limit', rules, { synopsis: 'Names of the rate limits.' }),
    path('quotas/rate-limit/{name}', {
      synopsis: 'How many requests each client may make.',
      description:
        'One rule counts a request: that of its role, else of its exact path, the longest beginning of its path, its mount, everything. Each client address ' +
        'has its own count in a rule. Servers of one store share a limit evenly. A write replaces the rule and starts its counts anew.',
      fields: {
        ...scopeFields,
        rate: f.float('Requests of a client in an interval.', { default: 0 }),
        interval: f.duration('How long an interval is.', { default: 1 }),
        block_interval: f.duration('A client that was refused stays refused for this long.', { default: 0 }),
        inheritable: f.bool('Kept for clients that manage namespaces. Default: true for the empty path.'),
      },
    })
      .read({
        summary: 'Read a rate limit.',
        handle: async ({ data: { name } }) => {
          const rule = rules.get(name);
          if (!rule) return undefined;
          const { scope, ...shown } = rule;
          return { data: { type: 'rate-limit', name, path: shownPath(scope), role: scope.role, ...shown } };
        },
      })
      .update({
        summary: 'Create or replace a rate limit.',
        handle: async ({ data, supplied }) => {
          if (!(data.rate > 0) || !Number.isFinite(data.rate)) throw new BadRequest("'rate' is invalid");
          const interval = data.interval === 0 ? 1 : data.interval;
          const role = supplied.has('role') ? data.role : (rules.get(data.name)?.scope.role ?? '');
          const scope = quotaScope(mounts, data.path, role, requireLoginRoles);
          await rules.put(data.name, {
            scope,
            rate: data.rate,
            interval,
            block_interval: data.block_interval,
            inheritable: data.inheritable ?? data.path === '',
          });
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a rate limit.',
        handle: async ({ data: { name } }) => {
          await rules.delete(name);
          return undefined;
        },
      }),
  ];
}

function leaseCountPaths({ quotas, mounts }: QuotaPathDeps, shownPath: (scope: QuotaScope) => string): AnyPath[] {
  const { rules } = quotas.leases;
  return [
    namesPath('quotas/lease-count', rules, { synopsis: 'Names of the caps on leases.' }),
    path('quotas/lease-count/{name}', {
      synopsis: 'How many leases may live.',
      description:
        'Counts the leases of secrets and the service tokens of logins on a mount, below a path, or of a role. What would be one too many is refused with ' +
        '429 before anything is made outside. From four fifths on, answers warn. Every cap that contains a lease holds.',
      fields: { ...scopeFields, max_leases: f.int('Leases that may live at a time.', { default: 0 }) },
    })
      .read({
        summary: 'Read a cap on leases, and how many leases it counts now.',
        handle: async ({ data: { name } }) => {
          const cap = rules.get(name);
          if (!cap) return undefined;
          const { scope, max_leases } = cap;
          const counter = await quotas.leases.used(name);
          return { data: { type: 'lease-count', name, path: shownPath(scope), role: scope.role, max_leases, counter } };
        },
      })
      .update({
        summary: 'Create or replace a cap on leases.',
        handle: async ({ data }) => {
          if (data.max_leases < 1) throw new BadRequest("'max_leases' is invalid: write a whole number of at least 1");
          const scope = quotaScope(mounts, data.path, data.role, (mount) => {
            if (mount.class === 'auth') requireLoginRoles(mount);
          });
          await rules.put(data.name, { scope, max_leases: data.max_leases });
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a cap on leases.',
        handle: async ({ data: { name } }) => {
          await rules.delete(name);
          return undefined;
        },
      }),
  ];
}

/** @throws BadRequest for a mount whose logins have no roles */
function requireLoginRoles(mount: Mount): void {
  const at = JSON.stringify(mount.path);
  if (mount.class !== 'auth')
    throw new BadRequest(`Mount path ${at} is not a valid auth method and therefore unsuitable for use with role-based quotas`);
  const hasRoles = mount.engine?.paths.some((declared) => declared.about.role !== undefined);
  if (hasRoles !== true) throw new BadRequest(`Mount path ${at} does not support use with role-based quotas`);
}
