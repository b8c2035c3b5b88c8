import { BadRequest, boundsOf, f, path, type AnyPath, type Clock, type PolicyHolder } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Barrier } from '../../kernel/barrier/barrier.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { IdentityStore } from '../../services/identity/identity-store.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import type { Acl } from '../../services/policies/acl.ts';
import type { AclQuery } from '../../services/policies/acl-query.ts';
import type { PolicyOperation } from '../../services/policies/capability.ts';
import { effectOf, type PolicyEffect } from '../../services/policies/policy-effect.ts';
import { parsePolicy, type Policy } from '../../services/policies/policy.ts';
import type { PolicyStore } from '../../services/policies/policy-store.ts';
import { askedCall, askedFields } from './path-policy-explanation.ts';
import { cursors, scanHolders, type FoundHolder } from './policy-holder-scan.ts';

export interface PolicyHolderDeps {
  readonly policies: PolicyStore;
  readonly identity: IdentityStore;
  readonly mounts: MountTable;
  readonly barrier: Barrier;
  readonly clock: Clock;
  needsSudo(path: string): boolean;
  /** The path as policies see it. @throws BadRequest for what is no path */
  canonical(path: string, operation: PolicyOperation): { readonly path: string; readonly folds?: PathFolds };
}

const DEFAULT_LIMIT = 100;
const MOST = 500;

const EffectField = Type.Enum(['allows', 'denies', 'lacks', 'depends'], {
  description:
    'lacks: the rule that decides gives other capabilities alone. depends: on who calls, by selectors in a path or by policies that are named by a pattern.',
});
const Source = Type.Object({
  policy: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  capabilities: Type.Array(Type.String()),
});
const Holders = Type.Object({
  path: Type.Optional(Type.String({ description: 'As policies see it.' })),
  operation: Type.Optional(Type.String()),
  sudo_required: Type.Optional(Type.Boolean()),
  policies: Type.Array(
    Type.Object({
      name: Type.String(),
      effect: EffectField,
      rule: Type.Optional(Type.String({ description: 'The path of the rule, as the policy writes it.' })),
      sources: Type.Array(Source),
      condition: Type.Optional(Type.String({ description: 'What a call must meet besides.' })),
    }),
    { description: 'The policies that have a rule for the path. Empty on further pages.' },
  ),
  holders: Type.Array(
    Type.Object({
      kind: Type.String({ description: 'role, user, group, entity or config.' }),
      mount: Type.String(),
      name: Type.String(),
      path: Type.String({ description: 'Where the holder is read and changed.' }),
      policies: Type.Array(Type.String(), { description: 'Those of its policies that have a rule for the path.' }),
      effect: Type.Optional(EffectField),
    }),
    {
      description:
        'Who has these policies. effect is that of all policies of the holder together; it is absent where the caller may not read all of them.',
    },
  ),
  next: Type.Optional(Type.String({ description: 'Send it as after for the next page. A page can be empty and have a next one.' })),
});

/** `sys/policies/who`: who may do something, by which policies. */
export function policyHoldersPath({ policies, identity, mounts, barrier, clock, needsSudo, canonical }: PolicyHolderDeps): AnyPath {
  const callOf = ({ path: asked, operation, policy }: { path: string | undefined; operation: string; policy: string | undefined }) => {
    if ((asked === undefined) === (policy === undefined)) throw new BadRequest('either path or policy must be given');
    if (asked === undefined) return undefined;
    const call = askedCall({ path: asked, operation });
    const place = canonical(call.path, call.operation);
    return { operation: call.operation, ...place, needsSudo: needsSudo(place.path) } satisfies AclQuery;
  };
  return path('policies/who', {
    synopsis: 'Who may make a call, or has a policy.',
    description:
      'The policies that allow or deny the call, and who has them: token roles, roles, users and groups of login methods, entities and groups. ' +
      'Shows what the caller may read at its own path, and nothing else. Tokens that were made without a role are not listed.',
    fields: {
      ...askedFields,
      path: f.string('The path of the call, without /v1/.'),
      policy: f.string('Finds who has this policy, instead of who may make a call.'),
      after: f.string('The next of the previous page.'),
      limit: f.int(`At most this many holders; by default ${DEFAULT_LIMIT}, at most ${MOST}.`),
    },
  }).update({
    summary: 'Finds who may make a call.',
    response: Holders,
    handle: async (req) => {
      const { limit = DEFAULT_LIMIT } = boundsOf({ after: undefined, limit: req.data.limit });
      const from = req.data.after ? cursors.read(barrier.ring, req.data.after) : undefined;
      if (req.data.after && !from) throw new BadRequest('after must be the next of the previous page');
      const caller = internalOf(req).acl!;
      const readable = await readablePolicies(policies, caller);
      const query = callOf(req.data);
      const effects = new Map<string, PolicyEffect | undefined>();
      if (!query) {
        const name = req.data.policy!.toLowerCase();
        if (!readable.has(name)) throw new BadRequest(`policy: there is no policy ${JSON.stringify(name)}, or it is not yours to read`);
        effects.set(name, undefined);
      } else {
        for (const policy of readable.values()) {
          const effect = effectOf([policy], query, clock.millis());
          if (effect) effects.set(policy.name, effect);
        }
      }
      const mayRead = ({ mount, holder }: FoundHolder): boolean => {
        const at = mount.path + holder.path;
        return caller.root || caller.check({ operation: 'read', ...canonical(at, 'read') }).allowed;
      };
      const matter = ({ policies: names, withDefault, mayGive }: PolicyHolder): string[] => [
        ...new Set([
          ...[...names, ...(withDefault ? ['default'] : [])].filter((name) => effects.has(name)),
          ...(mayGive ? [...effects.keys()].filter((name) => name !== 'root' && mayGive(name)) : []),
        ]),
      ];
      const scan = await scanHolders({
        mounts: mounts
          .all()
          .filter((mount) => caller.reaches(mount.path))
          .sort(byPath),
        from,
        limit: Math.min(limit, MOST),
        clock,
        signal: req.signal,
        take: (found) => matter(found.holder).length > 0 && mayRead(found),
      });
      const holders = await Promise.all(
        scan.found.map(async ({ mount, holder }) => {
          const effect = query && (await together(holder, mount, matter(holder), query));
          return {
            kind: holder.kind,
            mount: mount.path,
            name: holder.name,
            path: mount.path + holder.path,
            policies: matter(holder),
            ...(effect ? { effect } : {}),
          };
        }),
      );
      const shown = from ? [] : [...effects].flatMap(([name, effect]) => (effect ? [{ name, ...effect }] : []));
      const data = {
        ...(query ? { path: query.path, operation: query.operation, sudo_required: query.needsSudo === true } : {}),
        ...{ policies: shown, holders },
        ...(scan.next ? { next: cursors.write(barrier.ring, scan.next) } : {}),
      };
      const warnings = scan.unread.map(({ mount, reason }) => `who has policies by ${mount} is not listed: ${reason}`);
      return { data, ...(warnings.length === 0 ? {} : { warnings }) };

      /** What all policies of the holder do together; undefined where one of them is not the caller's to read. */
      async function together(
        { policies: own, withDefault, path: at }: PolicyHolder,
        mount: Mount,
        all: readonly string[],
        call: AclQuery,
      ) {
        const names = [...new Set([...own, ...(withDefault ? ['default'] : [])])];
        for (const name of names) if (!readable.has(name) && (await policies.policyExists(name))) return undefined;
        if (all.some((name) => !names.includes(name))) return 'depends' as const;
        const entity = mount.path === 'identity/' && at.startsWith('entity/id/') ? at.slice('entity/id/'.length) : undefined;
        const context = entity === undefined ? undefined : await identity.templateContext(entity);
        const set = names.flatMap((name) => readable.get(name) ?? []);
        return effectOf(set, call, clock.millis(), context)?.effect;
      }
    },
  });
}

/** By name, in order; `root` closes them. */
async function readablePolicies(policies: PolicyStore, caller: Acl): Promise<ReadonlyMap<string, Policy>> {
  const all = [...(await policies.all()), parsePolicy('root', '')];
  const mayRead = (name: string): boolean => caller.root || caller.check({ operation: 'read', path: `sys/policies/acl/${name}` }).allowed;
  return new Map(all.filter(({ name }) => mayRead(name)).map((policy) => [policy.name, policy]));
}

function byPath(a: Mount, b: Mount): number {
  return a.path < b.path ? -1 : 1;
}
