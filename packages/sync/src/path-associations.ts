import {
  BadRequest,
  EngineError,
  f,
  NotFound,
  pageFields,
  path,
  PermissionDenied,
  slicePage,
  waitAtMost,
  type AnyPath,
  type EngineHost,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { associationData, AssociationData, unsynced } from './association-data.ts';
import { NOT_FOUND, type Associations } from './associations.ts';
import { typeField, type DestinationTypes } from './destination-types.ts';
import { ruleData, RuleData } from './rule-data.ts';
import { isPattern } from './rule-pattern.ts';
import { DEFAULT_MAX_SECRETS, type Rules } from './rules.ts';
import { idOf, pages, placeOf, recordsIn, ruleId, type AssociationRecord, type DestinationRecord, type RuleRecord } from './records.ts';
import type { SyncRun } from './sync-run.ts';

/** Secrets that an answer about a rule shows. */
const MOST_SHOWN = 500;

const Answer = Type.Object({
  associated_secrets: Type.Record(Type.String(), AssociationData),
  store_name: Type.String(),
  store_type: Type.String(),
  rules: Type.Optional(Type.Array(RuleData)),
});
const Preview = Type.Object({
  rule: RuleData,
  would_link: Type.Array(
    Type.Object({
      secret_name: Type.String(),
      remote_names: Type.Array(Type.String(), { description: 'One for each copy.' }),
      error: Type.Optional(Type.String({ description: 'Why it cannot be linked.' })),
    }),
    { description: `The first ${MOST_SHOWN} secrets.` },
  ),
  total: Type.Integer({ description: 'Secrets that the rule would link.' }),
  store_name: Type.String(),
  store_type: Type.String(),
});
const Destinations = Type.Object({
  associated_destinations: Type.Record(
    Type.String(),
    Type.Object({
      type: Type.String(),
      name: Type.String(),
      sub_key: Type.Optional(Type.String()),
      sync_status: Type.String(),
      updated_at: Type.String(),
    }),
  ),
});

const body = {
  mount: f.string('Path of the mount that holds the secret.'),
  wait: f.duration(
    'How long to wait for the provider, and for a run that is under way, before the answer; the schedule continues in the background.',
    {
      default: 5,
    },
  ),
};

/** `destinations/<type>/<name>/associations…` and `associations…`: links between secrets and destinations. */
export function associationPaths(
  host: EngineHost,
  types: DestinationTypes,
  associations: Associations,
  rules: Rules,
  run: SyncRun,
): AnyPath[] {
  const records = recordsIn(host.storage);
  const place = { type: typeField(types), destination: f.name('Name of the destination.') };
  const requireDestination = async (data: { readonly type: string; readonly destination: string }): Promise<DestinationRecord> => {
    const found = await records.destinations.get(placeOf({ type: data.type, name: data.destination }));
    if (!found) types.of(data.type);
    if (!found) throw new NotFound(`there is no destination ${data.type}/${data.destination}`);
    return found;
  };
  const shown = (association: AssociationRecord) => associationData(association, associations.mountPath(association));
  const answer = (destination: DestinationRecord, entries: readonly [string, AssociationData][], its: readonly RuleRecord[] = []) => ({
    data: {
      associated_secrets: Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1))),
      store_name: destination.name,
      store_type: destination.type,
      ...(its.length > 0 ? { rules: its.map(ruleShown) } : {}),
    },
  });
  const ruleShown = (rule: RuleRecord): RuleData => ruleData(rule, rules.mountPath(rule));
  /** The links of a rule, once its first pass and the runs of what it brought have ended, or the time is over. */
  const broughtBy = async (rule: RuleRecord, destination: DestinationRecord, millis: number) => {
    const until = host.clock.millis() + millis;
    const stop = new AbortController();
    await waitAtMost(host.clock, millis, rules.pass(ruleId(rule), stop.signal)).finally(() => stop.abort());
    const brought: AssociationRecord[] = [];
    for (const key of await records.ruled.list({ prefix: `${rule.id}/`, limit: MOST_SHOWN })) {
      const secret = { uuid: rule.mount, secret: key.slice(rule.id.length + 1) };
      const association = await associations.find(records, destination.id, secret);
      if (association) brought.push(association);
    }
    await Promise.all(brought.map(async (one) => run.soon(idOf(one), one.change, until - host.clock.millis())));
    const now = await Promise.all(brought.map(async (one) => records.associations.get(idOf(one))));
    return answer(
      destination,
      now.flatMap((one) => (one ? shown(one) : [])),
      [(await records.rules.get(ruleId(rule))) ?? rule],
    );
  };
  const previewed = async (req: Parameters<Rules['check']>[0], rule: RuleRecord, destination: DestinationRecord) => {
    const would_link: Static<typeof Preview>['would_link'] = [];
    let total = 0;
    for await (const names of rules.names(rule)) {
      for (const secret_name of names) {
        const named = await namesFor(req, rule, destination, secret_name);
        if (!named) continue;
        total += 1;
        if (would_link.length < Math.min(MOST_SHOWN, rule.max_secrets)) would_link.push(named);
      }
    }
    const linked = Math.min(total, rule.max_secrets);
    const found = { at: host.clock.now().toISOString(), linked, denied: 0, beyond: total - linked };
    return {
      data: { rule: ruleShown({ ...rule, found }), would_link, total: linked, store_name: destination.name, store_type: destination.type },
    };
  };
  /** Undefined for what the rule would not link: a secret that is deleted, or that the caller may not read. */
  const namesFor = async (req: Parameters<Rules['check']>[0], rule: RuleRecord, destination: DestinationRecord, secret_name: string) => {
    try {
      const asked = { mount: rule.mount_path, secret_name };
      const { names } = await associations.names(req, destination, types.installed(destination.type), asked);
      return { secret_name, remote_names: [...names] };
    } catch (error) {
      if (!(error instanceof EngineError) || error.status >= 500) throw error;
      const isMissing = error instanceof PermissionDenied || error.message === NOT_FOUND;
      return isMissing ? undefined : { secret_name, remote_names: [], error: error.message };
    }
  };

  return [
    path('destinations/{type}/{destination}/associations', {
      synopsis: 'The secrets that are linked with a destination.',
      description: 'With how each of them stands.',
      fields: place,
    }).read({
      summary: 'Lists the associations of a destination with their sync status.',
      response: Answer,
      handle: async ({ data }) => {
        const destination = await requireDestination(data);
        const entries: [string, AssociationData][] = [];
        for await (const page of pages(records.associations, `${destination.id}/`)) {
          for (const [, association] of page) entries.push(...shown(association));
        }
        return answer(destination, entries, await rules.list(destination));
      },
    }),
    path('destinations/{type}/{destination}/associations/set', {
      synopsis: 'Links a secret with a destination.',
      description:
        'Of a secret that is linked already: looks outside, and writes what differs. The caller must be able to read the secret. ' +
        'With `folder/*` or `*`, a rule: it links every secret below, as secrets come and go, and what the caller may read of them.',
      fields: {
        ...place,
        ...body,
        secret_name: f.string('Path of the secret in its mount; `folder/*` for all secrets below a folder, `*` for all of the mount.'),
        exclude: f.strings('Only with a rule: secrets, and folders with `/*`, that it leaves out. Default: those that the rule has.'),
        max_secrets: f.int(`Only with a rule: the most secrets that it links. Default: ${DEFAULT_MAX_SECRETS}.`),
        dry_run: f.bool('Only with a rule: show which secrets it would link, and store nothing.'),
      },
    }).update({
      summary: 'Links a secret and syncs it, or syncs it again.',
      response: Type.Union([Answer, Preview]),
      handle: async (req) => {
        const destination = await requireDestination(req.data);
        const { secret_name = '', exclude, max_secrets, dry_run } = req.data;
        if (isPattern(secret_name)) {
          types.installed(destination.type);
          const rule = await rules.check(req, destination, { mount: req.data.mount, secret_name, exclude, max_secrets });
          if (dry_run) return previewed(req, rule, destination);
          await rules.set(rule);
          return broughtBy(rule, destination, req.data.wait * 1_000);
        }
        const [only] = (['exclude', 'max_secrets', 'dry_run'] as const).filter((name) => req.supplied.has(name));
        if (only) throw new BadRequest(`${only} belongs to a rule: write secret_name as a folder such as team/*, or * for the whole mount`);
        const { id, change } = await associations.set(req, destination, types.installed(destination.type), req.data);
        await run.soon(id, change, req.data.wait * 1_000);
        const association = await records.associations.get(id);
        return answer(destination, association ? shown(association) : []);
      },
    }),
    path('destinations/{type}/{destination}/associations/remove', {
      synopsis: 'Unlinks a secret from a destination.',
      description: 'What we wrote outside is removed. Succeeds also where there is no such association, or nothing outside.',
      fields: {
        ...place,
        ...body,
        secret_name: f.string('Path of the secret in its mount; or that of a rule, such as `folder/*`.', { aliases: ['name'] }),
      },
    }).update({
      summary: 'Unlinks a secret and removes it outside.',
      response: Answer,
      handle: async (req) => {
        const destination = await requireDestination(req.data);
        const { mount, secret_name = '', wait } = req.data;
        if (isPattern(secret_name)) {
          const rule = await rules.remove(destination, { mount, secret_name });
          return rule ? broughtBy(rule, destination, wait * 1_000) : answer(destination, []);
        }
        const { change, found } = await associations.remove(destination, req.data);
        if (change) await run.soon(change.id, change.change, req.data.wait * 1_000);
        const left = change && (await records.associations.get(change.id));
        if (left) return answer(destination, shown(left));
        return answer(destination, found ? [unsynced(found.accessor, found.path, found.secret, host.clock.now())] : []);
      },
    }),
    path('associations', { synopsis: 'All associations.', description: 'By secret.', fields: pageFields }).list({
      summary: 'Lists all secrets that are linked with a destination.',
      response: Type.Object({
        key_info: Type.Record(Type.String(), Type.Array(Type.Object({ mount: Type.String(), secret_path: Type.String() }))),
        keys: Type.Array(Type.String()),
        total_associations: Type.Integer(),
        total_secrets: Type.Integer(),
        rules: Type.Optional(Type.Array(RuleData)),
      }),
      handle: async ({ data }) => {
        const byKey = new Map<string, { mount: string; secret_path: string }[]>();
        let total_associations = 0;
        for await (const page of pages(records.associations)) {
          for (const [, association] of page) {
            const mount = associations.mountPath(association);
            total_associations += 1;
            byKey.set(`${mount}${association.secret_name}`, [{ mount, secret_path: association.secret_name }]);
          }
        }
        const all = (await rules.list()).map(ruleShown);
        if (total_associations + all.length === 0) return undefined;
        const keys = slicePage([...byKey.keys()].sort(), data, (key) => key);
        if (keys.length + all.length === 0) return undefined;
        return {
          data: {
            key_info: Object.fromEntries(keys.map((key) => [key, byKey.get(key)!])),
            keys,
            total_associations,
            total_secrets: byKey.size,
            ...(all.length > 0 ? { rules: all } : {}),
          },
        };
      },
    }),
    path('associations/destinations', {
      synopsis: 'Where a secret is synced to.',
      description: 'The form for mounts and secrets whose paths have slashes.',
      fields: { mount: f.string('Path of the mount.'), secret_name: f.string('Path of the secret in its mount.') },
    }).read({
      summary: 'Lists the destinations of a secret.',
      response: Destinations,
      handle: async ({ data }) => {
        if (!data.mount || !data.secret_name) throw new BadRequest('mount and secret_name are both needed');
        return destinationsOf(data.mount, data.secret_name);
      },
    }),
    path('associations/{mount:any}/{secret_name:all}', {
      synopsis: 'Where a secret is synced to.',
      description: 'For mounts whose path has no slash.',
      fields: { mount: f.name('Path of the mount.'), secret_name: f.name('Path of the secret in its mount.') },
    }).read({
      summary: 'Lists the destinations of a secret.',
      response: Destinations,
      handle: async ({ data }) => destinationsOf(data.mount, data.secret_name),
    }),
  ];

  interface DestinationEntry {
    type: string;
    name: string;
    sub_key?: string;
    sync_status: string;
    updated_at: string;
  }

  async function destinationsOf(mount: string, secret_name: string) {
    const found = await associations.ofSecret({ mount, secret_name });
    if (found.length === 0) return undefined;
    const entries = found.flatMap((association) => {
      const [type = '', name = ''] = association.place.split('/');
      return shown(association).map(([, { sub_key, sync_status, updated_at }]) => [
        sub_key === undefined ? association.place : `${association.place}/${sub_key}`,
        { type, name, ...(sub_key === undefined ? {} : { sub_key }), sync_status, updated_at },
      ]);
    });
    return { data: { associated_destinations: Object.fromEntries(entries) as Record<string, DestinationEntry> } };
  }
}
