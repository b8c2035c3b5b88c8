import type { Context } from './context.ts';
import type { JsonRecord } from './json.ts';
import { isLine, listOrLine, readOrLine, type Found } from './listing.ts';
import { rewritePolicy } from './policy-text.ts';
import { missingMount, only, setting } from './setting.ts';

/** Password policies, as text. */
export async function* findPasswordPolicies(context: Context): Found {
  yield* named(context, 'password-policies', 'password policy', 'sys/policies/password/');
}

/** Policies, with the accessors of this server, and the paths that mounts have here. */
export async function* findPolicies(context: Context): Found {
  yield* named(context, 'policies', 'policy', 'sys/policies/acl/');
}

/** Roles of the token store. */
export async function* findTokenRoles(context: Context): Found {
  yield* named(context, 'token-roles', 'token role', 'auth/token/roles/');
}

async function* named(context: Context, group: 'password-policies' | 'policies' | 'token-roles', kind: string, folder: string): Found {
  if (!context.selection.mayTake(group, folder)) return;
  const names = await listOrLine(context, kind, folder);
  if (isLine(names)) {
    yield names;
    return;
  }
  for (const name of names) {
    const path = folder + name;
    if (!context.selection.takes(group, path) || (group === 'policies' && name === 'root')) continue;
    const read = await readOrLine(context, kind, path);
    if (read === undefined) continue;
    if (isLine(read)) yield read;
    else if (group === 'token-roles') yield setting(context, { kind, group, path, to: path, read, shape: tokenRole });
    else {
      const missing = group === 'policies' ? missingMount(context, kind, path, read) : undefined;
      if (missing) {
        yield missing;
        continue;
      }
      const { diff } = rewritePolicy(String(read['policy'] ?? ''), context.map);
      const here = (content: JsonRecord): JsonRecord =>
        group === 'policies' ? { ...content, policy: rewritePolicy(String(content['policy'] ?? ''), context.map).policy } : content;
      const own =
        group === 'policies' &&
        name === 'default' &&
        'every server has its own policy "default": compare them, or add -on-conflict=replace';
      yield setting(context, {
        ...{ kind, group, path, to: path, read, shape: group === 'policies' ? policyShape : only('policy'), here },
        ...(group === 'policies' ? { diff } : {}),
        ...(own ? { unequal: own } : {}),
      });
    }
  }
}

const policyShape = only(
  'policy',
  'cas_required',
  'allow_slashes_in_identity_templates',
  'allow_wildcards_in_identity_templates',
  'expiration',
);

/** Servers show older names of fields beside the newer ones; those are left out. */
function tokenRole(read: JsonRecord): JsonRecord {
  const { name: _name, explicit_max_ttl, period, bound_cidrs: _cidrs, ...rest } = read;
  return {
    ...rest,
    token_explicit_max_ttl: read['token_explicit_max_ttl'] || explicit_max_ttl,
    token_period: read['token_period'] || period,
  };
}
