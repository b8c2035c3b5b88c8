import type { Context } from './context.ts';
import { isUntouched, recordOf, textsOf, type JsonRecord } from './json.ts';
import { isLine, listOrLine, readOrLine, type Found } from './listing.ts';
import { missingMount, only, setting, without, type SettingParts } from './setting.ts';
import type { Line, Thing } from './thing.ts';

const group = 'identity';

/** Who the source knows: entities and groups with their ids, identity tokens, second factors. */
export async function* findIdentity(context: Context): Found {
  if (!context.selection.mayTake(group, 'identity/')) return;
  yield* findEntities(context);
  yield* findGroups(context);
  yield* findOidc(context);
  yield* findMfa(context);
}

/** One thing that is read at `path`; nothing where it is gone, or is not chosen. */
async function one(
  context: Context,
  kind: string,
  path: string,
  parts:
    | Omit<SettingParts, 'kind' | 'group' | 'path' | 'to' | 'read'>
    | ((read: JsonRecord) => Partial<SettingParts> & Pick<SettingParts, 'shape'>),
): Promise<Thing | Line | undefined> {
  if (!context.selection.takes(group, path)) return undefined;
  const read = await readOrLine(context, kind, path);
  if (read === undefined || isLine(read)) return read;
  const missing = missingMount(context, kind, path, read);
  if (missing) return missing;
  return setting(context, { kind, group, path, to: path, read, ...(typeof parts === 'function' ? parts(read) : parts) });
}

async function* findEntities(context: Context): Found {
  const ids = await listOrLine(context, 'entity', 'identity/entity/id');
  if (isLine(ids)) {
    yield ids;
    return;
  }
  const aliases: JsonRecord[] = [];
  for (const id of ids) {
    const path = `identity/entity/id/${id}`;
    if (!context.selection.takes(group, path)) continue;
    const read = await readOrLine(context, 'entity', path);
    if (read === undefined) continue;
    if (isLine(read)) {
      yield read;
      continue;
    }
    aliases.push(...(Array.isArray(read['aliases']) ? read['aliases'].map(recordOf) : []));
    const shape = only('name', 'policies', 'metadata', 'disabled');
    yield setting(context, { kind: 'entity', group, path, to: path, read, shape, writeTo: `identity/import/entity/${id}` });
  }
  for (const alias of aliases)
    yield aliasThing(context, 'entity', alias, only('name', 'mount_accessor', 'canonical_id', 'custom_metadata'));
}

function aliasThing(context: Context, of: 'entity' | 'group', read: JsonRecord, shape: SettingParts['shape']): Thing | Line {
  const path = `identity/${of}-alias/id/${String(read['id'])}`;
  const kind = `${of} alias`;
  const accessor = String(read['mount_accessor']);
  const here = context.map.accessors.get(accessor);
  const mount = context.map.mounts.find((one) => one.accessor === accessor);
  if (here === undefined || !mount || !context.map.ready.has(mount.path)) {
    const where = mount ? `its login method ${mount.path} is not here` : 'its login method is gone at the source';
    return { kind, path, outcome: 'not-carriable', why: where };
  }
  return setting(context, {
    ...{ kind, group, path, to: path, read, shape, writeTo: `identity/import/${of}-alias/${String(read['id'])}` },
    here: (content) => ({ ...content, mount_accessor: here }),
  });
}

async function* findGroups(context: Context): Found {
  const ids = await listOrLine(context, 'group', 'identity/group/id');
  if (isLine(ids)) {
    yield ids;
    return;
  }
  const groups = new Map<string, JsonRecord>();
  for (const id of ids) {
    const path = `identity/group/id/${id}`;
    if (!context.selection.takes(group, path)) continue;
    const read = await readOrLine(context, 'group', path);
    if (isLine(read)) yield read;
    else if (read) groups.set(id, read);
  }
  for (const [id, read] of membersFirst(groups)) {
    const path = `identity/group/id/${id}`;
    const members = read['type'] === 'external' ? [] : ['member_entity_ids', 'member_group_ids'];
    const shape = only('name', 'type', 'policies', 'metadata', ...members);
    yield setting(context, { kind: 'group', group, path, to: path, read, shape, writeTo: `identity/import/group/${id}` });
    const alias = recordOf(read['alias']);
    if (alias['id'] !== undefined) yield aliasThing(context, 'group', alias, only('name', 'mount_accessor', 'canonical_id'));
  }
}

/** A group that is a member of another one must be there first. */
function membersFirst(groups: ReadonlyMap<string, JsonRecord>): Map<string, JsonRecord> {
  const sorted = new Map<string, JsonRecord>();
  const visiting = new Set<string>();
  const visit = (id: string): void => {
    const read = groups.get(id);
    if (!read || sorted.has(id) || visiting.has(id)) return;
    visiting.add(id);
    textsOf(read['member_group_ids']).forEach(visit);
    sorted.set(id, read);
  };
  [...groups.keys()].forEach(visit);
  return sorted;
}

async function* findOidc(context: Context): Found {
  const config = await one(context, 'identity token settings', 'identity/oidc/config', { shape: only('issuer'), untouched: isUntouched });
  if (config) yield config;
  // A role names its key, a client its key and assignments, a key the clients that may use it: by id, which needs no client.
  const kinds: readonly [string, string, SettingParts['shape']][] = [
    ['identity key', 'key', only('rotation_period', 'verification_ttl', 'algorithm', 'allowed_client_ids')],
    ['identity role', 'role', only('key', 'template', 'ttl', 'client_id')],
    ['scope', 'scope', only('template', 'description')],
    ['assignment', 'assignment', only('entity_ids', 'group_ids')],
    ['client', 'client', only('key', 'redirect_uris', 'assignments', 'client_type', 'id_token_ttl', 'access_token_ttl', 'client_id')],
    ['provider', 'provider', only('allowed_client_ids', 'scopes_supported')],
  ];
  for (const [kind, list, shape] of kinds) {
    const names = await listOrLine(context, kind, `identity/oidc/${list}`);
    if (isLine(names)) {
      yield names;
      continue;
    }
    for (const name of names) {
      if (list === 'assignment' && name === 'allow_all') continue;
      const found = await one(context, kind, `identity/oidc/${list}/${name}`, (read) => ({
        shape,
        ...(list === 'client' ? clientParts(name, read) : {}),
        ...(list === 'role' || list === 'scope'
          ? { here: (content: JsonRecord) => ({ ...content, template: template(context, content) }) }
          : {}),
      }));
      if (found) yield found;
    }
  }
}

/** A client goes on with its id and secret, which the source shows. A client that is here already keeps its own. */
function clientParts(name: string, read: JsonRecord): Partial<SettingParts> {
  const secret = read['client_secret'];
  return { writeTo: `identity/import/oidc/client/${name}`, ...(secret === undefined ? {} : { also: { client_secret: secret } }) };
}

function template({ map }: Context, content: JsonRecord): unknown {
  return typeof content['template'] === 'string' ? map.withAccessors(content['template']) : content['template'];
}

async function* findMfa(context: Context): Found {
  const ids = await listOrLine(context, 'MFA method', 'identity/mfa/method');
  if (isLine(ids)) {
    yield ids;
    return;
  }
  for (const id of ids) {
    const path = `identity/mfa/method/${id}`;
    const found = await one(context, 'MFA method', path, {
      shape: (read) => {
        const { name, ...rest } = without('id', 'namespace_id', 'namespace_path', 'uuid', 'type')(read);
        return { ...rest, method_name: name };
      },
      writeTo: `identity/import/mfa/method/totp/${id}`,
    });
    if (!found) continue;
    const type = isLine(found) ? 'totp' : String((await context.source.read(path))?.['type'] ?? 'totp');
    if (type === 'totp') yield found;
    else yield { kind: 'MFA method', path, outcome: 'not-carriable', why: `methods of type ${type} are not offered here: use totp` };
  }
  const names = await listOrLine(context, 'MFA enforcement', 'identity/mfa/login-enforcement');
  if (isLine(names)) {
    yield names;
    return;
  }
  const shape = only('mfa_method_ids', 'auth_method_accessors', 'auth_method_types', 'identity_group_ids', 'identity_entity_ids');
  for (const name of names) {
    const found = await one(context, 'MFA enforcement', `identity/mfa/login-enforcement/${name}`, {
      shape,
      here: (content) => ({
        ...content,
        auth_method_accessors: textsOf(content['auth_method_accessors']).map((accessor) => context.map.accessors.get(accessor) ?? accessor),
      }),
    });
    if (found) yield found;
  }
  if (ids.length > 0) {
    const why = 'the TOTP secrets of entities are shown by no read: every person needs a new one, or nobody passes the enforcement';
    yield { kind: 'TOTP secrets', path: 'identity/mfa/method', outcome: 'not-carriable', why, command: TOTP };
  }
}

const TOTP = 'strongroom write identity/mfa/method/totp/admin-generate method_id=ID entity_id=ID';
