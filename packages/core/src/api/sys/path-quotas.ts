import { type AnyPath, BadRequest, f, namesPath, NoContent, path, Seconds } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
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
  path: f.string('The scope: a mount, a path below a mount, or a prefix of such paths followed by *. Empty: all requests.', {
    default: '',
  }),
  role: f.string('Apply only to this role of the mount.', { default: '' }),
};

const scope = { name: Type.String(), path: Type.String(), role: Type.String() };
const RateLimit = Type.Object({
  type: Type.Literal('rate-limit'),
  ...scope,
  rate: Type.Number(),
  interval: Seconds,
  block_interval: Seconds,
  inheritable: Type.Boolean(),
});
const LeaseCount = Type.Object({
  type: Type.Literal('lease-count'),
  ...scope,
  max_leases: Type.Integer(),
  counter: Type.Integer({ description: 'Leases now.' }),
});
const Settings = Type.Object({
  enable_rate_limit_audit_logging: Type.Boolean(),
  enable_rate_limit_response_headers: Type.Boolean(),
  rate_limit_exempt_paths: Type.Array(Type.String()),
});

/** `sys/quotas`. */
export function quotaPaths({ quotas, mounts }: QuotaPathDeps): AnyPath[] {
  const shownPath = ({ mount, mount_path, suffix }: QuotaScope): string => (mounts.byUuid(mount)?.path ?? mount_path) + suffix;
  return [settingsPath(quotas), ...rateLimitPaths({ quotas, mounts }, shownPath), ...leaseCountPaths({ quotas, mounts }, shownPath)];
}

function settingsPath({ rates: { settings } }: Quotas): AnyPath {
  return path('quotas/config', {
    synopsis: 'Configure settings for all rate limits.',
    description: 'A write replaces all three settings. Until the first write, the paths for unsealing and for health checks are exempt.',
    fields: {
      enable_rate_limit_audit_logging: f.bool('Write refused requests to the audit devices.', { default: false }),
      enable_rate_limit_response_headers: f.bool('Send the headers X-Ratelimit-Limit, X-Ratelimit-Remaining and X-Ratelimit-Reset.', {
        default: false,
      }),
      rate_limit_exempt_paths: f.commaStrings('Paths exempt from all rate limits. A * at the end matches any suffix.', { default: [] }),
    },
  })
    .read({ summary: 'Read the settings of rate limits.', response: Settings, handle: async () => ({ data: settings.config }) })
    .update({
      summary: 'Replace the settings of rate limits.',
      response: NoContent,
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
      synopsis: 'Configure a rate limit: how many requests each client can make.',
      description:
        'One rule applies to a request: the most specific of role, exact path, longest path prefix, mount, and all requests. Each client address has its own ' +
        'counter. The servers of a store share the limit evenly. A write replaces the rule and resets its counters.',
      fields: {
        ...scopeFields,
        rate: f.float('Number of requests that a client can make in each interval.', { default: 0 }),
        interval: f.duration('Length of the interval.', { default: 1 }),
        block_interval: f.duration('How long a client is refused after it exceeds the limit.', { default: 0 }),
        inheritable: f.bool('Stored for compatibility; has no effect. Default: true for the empty path.'),
      },
    })
      .read({
        summary: 'Read a rate limit.',
        response: RateLimit,
        handle: async ({ data: { name } }) => {
          const rule = rules.get(name);
          if (!rule) return undefined;
          const { scope, ...shown } = rule;
          return { data: { type: 'rate-limit' as const, name, path: shownPath(scope), role: scope.role, ...shown } };
        },
      })
      .update({
        summary: 'Create or replace a rate limit.',
        response: NoContent,
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
        response: NoContent,
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
      synopsis: 'Configure a cap on leases.',
      description:
        'Limits the leases of secrets and the service tokens of logins on a mount, below a path, or of a role. A request over the cap is refused with 429 ' +
        'before the engine creates anything. From 80 % on, responses contain a warning. If several caps apply to a lease, all must have room.',
      fields: { ...scopeFields, max_leases: f.int('Maximum number of leases at a time.', { default: 0 }) },
    })
      .read({
        summary: 'Read a cap on leases and its current count.',
        response: LeaseCount,
        handle: async ({ data: { name } }) => {
          const cap = rules.get(name);
          if (!cap) return undefined;
          const { scope, max_leases } = cap;
          const counter = await quotas.leases.used(name);
          return { data: { type: 'lease-count' as const, name, path: shownPath(scope), role: scope.role, max_leases, counter } };
        },
      })
      .update({
        summary: 'Create or replace a cap on leases.',
        response: NoContent,
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
        response: NoContent,
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
