import { type AnyPath, BadRequest, NoContent, path, shownFields, type StorageView, UnsupportedPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { roleName } from './path-roles.ts';
import { roleFields, shownCidrs, shownRole, type Role, type RoleData } from './role.ts';
import type { Roles } from './roles.ts';

type Name = keyof RoleData;

/** A path for one field of a role. */
interface FieldPath {
  readonly field: Name;
  /** An older name that a write may use and that a read shows if it was used. */
  readonly old?: Name;
  /** What a write without the field says is missing; default: the field. */
  readonly missing?: string;
  /** What the field is after DELETE. */
  readonly empty: unknown;
  /** Default: the field, and its older name where that was used. */
  readonly shown?: (role: Role) => Record<string, unknown>;
  /** @throws BadRequest for a value that the rest of the role does not allow */
  readonly check?: (role: Role, data: RoleData) => void;
}

const FIELD_PATHS: Readonly<Record<string, FieldPath>> = {
  policies: { field: 'token_policies', old: 'policies', empty: [] },
  'bind-secret-id': { field: 'bind_secret_id', empty: true },
  'secret-id-num-uses': { field: 'secret_id_num_uses', empty: 0 },
  'secret-id-ttl': { field: 'secret_id_ttl', empty: 0 },
  'secret-id-bound-cidrs': { field: 'secret_id_bound_cidrs', empty: [] },
  'bound-cidr-list': {
    field: 'secret_id_bound_cidrs',
    missing: 'bound_cidr_list',
    empty: [],
    shown: (role) => ({ bound_cidr_list: shownCidrs(role) }),
  },
  'token-bound-cidrs': { field: 'token_bound_cidrs', empty: [] },
  period: { field: 'token_period', old: 'period', missing: 'period', empty: 0 },
  'token-num-uses': { field: 'token_num_uses', empty: 0 },
  'token-ttl': {
    field: 'token_ttl',
    empty: 0,
    check: ({ token_max_ttl: most }, { token_ttl: ttl = 0 }) => {
      if (most > 0 && ttl > most) throw new BadRequest('token_ttl should not be greater than token_max_ttl');
    },
  },
  'token-max-ttl': {
    field: 'token_max_ttl',
    empty: 0,
    check: ({ token_ttl: ttl }, { token_max_ttl: most = 0 }) => {
      if (most > 0 && ttl > most) throw new BadRequest('token_max_ttl should be greater than or equal to token_ttl');
    },
  },
};

/** A path for each field of a role that operators set by itself, so that policies can allow one and not another. */
export function roleFieldPaths(storage: StorageView, roles: Roles): AnyPath[] {
  const one = (at: string, { field, old, missing = field, empty, shown, check }: FieldPath): AnyPath => {
    const show = shown ?? ((role: Role) => picked(shownRole(role), old === undefined ? [field] : [field, old]));
    const fields = { [field]: roleFields[field], ...(old === undefined ? {} : { [old]: roleFields[old] }) };
    return path(`role/{name}/${at}`, {
      synopsis: `Configure ${field} of a role.`,
      description: `Reads, writes or resets only ${field}.`,
      fields: { name: roleName, ...fields },
    })
      .read({
        summary: `Read ${field}.`,
        response: shownFields(fields, {
          bound_cidr_list: Type.Union([Type.Array(Type.String()), Type.Null()]),
        }),
        handle: async (req) => {
          const role = await roles.records(storage).get(nameOf(req));
          return role && { data: show(role) };
        },
      })
      .update({
        summary: `Change ${field}.`,
        response: NoContent,
        handle: async (req) => {
          const supplied = req.supplied as ReadonlySet<string>;
          const known = await roles.change(nameOf(req), { data: req.data as RoleData, supplied }, (role) => {
            if (!supplied.has(field) && !(old !== undefined && supplied.has(old))) throw new BadRequest(`missing ${missing}`);
            check?.(role, req.data as RoleData);
          });
          if (!known) throw new UnsupportedPath();
          return undefined;
        },
      })
      .delete({
        summary: `Reset ${field} to its default.`,
        response: NoContent,
        handle: async (req) => {
          await roles.change(nameOf(req), { data: { [field]: empty }, supplied: new Set([field]) });
          return undefined;
        },
      });
  };
  return [
    ...Object.entries(FIELD_PATHS).map(([at, kind]) => one(at, kind)),
    path('role/{name}/local-secret-ids', {
      synopsis: 'Read local_secret_ids of a role.',
      description: 'Can only be set when the role is created, and has no effect.',
      fields: { name: roleName },
    }).read({
      summary: 'Read local_secret_ids.',
      response: Type.Object({ local_secret_ids: Type.Boolean() }),
      handle: async ({ data: { name } }) => {
        const role = await roles.records(storage).get(name);
        return role && { data: { local_secret_ids: role.local_secret_ids } };
      },
    }),
  ];
}

function nameOf({ data }: { readonly data: unknown }): string {
  return (data as { name: string }).name;
}

function picked(shown: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(shown, name)).map((name) => [name, shown[name]]));
}
