import { type AnyPath, BadRequest, type EngineHost, f, InvalidRequest, namesPath, NoContent, path } from '@strongroom/engine-sdk';
import {
  planOf,
  rotationPlanParameters,
  samePlan,
  staticRoleRead,
  visiblePlan,
  visiblePlanFields,
  type SentPlan,
} from '@strongroom/rotation';
import { Type } from 'typebox';
import { assumedRoleOf, AssumedRoleRecord, assumedRoleParameters, sameAssumedRole, visibleAssumedRole } from './assumed-role.ts';
import { lostText } from './managed-keys.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import type { StaticKeys } from './static-keys.ts';

const visibleFields = {
  name: Type.String(),
  id: Type.String(),
  username: Type.String(),
  grace_period: Type.Optional(Type.Number({ description: 'Seconds.' })),
  ...AssumedRoleRecord.properties,
};

/** Seconds. */
const SHORTEST_PERIOD = 60;
const ID_LENGTH = 20;
const LONGEST_USER = 64;

export function staticRolePaths(host: EngineHost, keys: StaticKeys): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const role = path('static-roles/{name:at}', {
    synopsis: 'Roles that replace the access key of a user that exists already.',
    description:
      'A key is made when the role is created, and then every rotation_period, or by rotation_schedule (UTC). Where the user has as many keys as it ' +
      'may have, the oldest is deleted first. The previous key is deactivated and deleted after each rotation. Deleting the role deletes the keys ' +
      'that it made; the user stays.',
    fields: {
      name: f.name('Name of the static role.'),
      username: f.string('The user whose key it is. It cannot be changed.'),
      ...rotationPlanParameters,
      grace_period: f.duration('How long the previous key stays valid after a rotation, so that clients have time to fetch the new one.'),
      ...assumedRoleParameters,
      adopt: f.bool('Take the user over from its current manager, in this mount or another.', { default: false }),
    },
  })
    .read(
      staticRoleRead({
        roles: records.staticRoles,
        response: visibleFields,
        visible,
        status: async (name, record) => keys.rotation.status(name, record),
      }),
    )
    .upsert({
      summary: 'Creates a static role, which makes a key, or changes it. A changed period counts from now.',
      response: Type.Object({ ...visibleFields, ...visiblePlanFields }),
      exists: async (req) => records.staticRoles.has(req.data.name),
      handle: async (req) => {
        const { name, adopt, ...sent } = req.data;
        const before = await records.staticRoles.get(name);
        if (!before) {
          const record = changed(host, undefined, sent);
          await keys.create(name, record, { signal: req.signal, adopt });
          return { data: visible(name, record) };
        }
        const wanted = changed(host, before, sent);
        if (!sameAssumedRole(before, wanted)) await keys.tryAccess(wanted, req.signal);
        const after = await host.storage.transaction(async (tx) => {
          const current = await recordsIn(tx).staticRoles.get(name);
          if (!current) throw new BadRequest(`the static role ${JSON.stringify(name)} was deleted meanwhile`);
          const next = changed(host, current, sent);
          const replan = sent.rotation_period !== undefined || !samePlan(current, next);
          await keys.rotation.update(tx, name, next, { replan, adopt });
          return next;
        });
        const lost = await keys.rotation.lostTo(name, after);
        return { data: visible(name, after), ...(lost ? { warnings: [lostText(after.username, lost)] } : {}) };
      },
    })
    .delete({
      summary: 'Deletes a static role and the keys that it made. The user stays.',
      response: NoContent,
      handle: async (req) => {
        const failure = await keys.delete(req.data.name, req.signal);
        if (failure === undefined) return undefined;
        return { warnings: [`the keys of the role could not be deleted yet; it is tried again until they are: ${failure}`] };
      },
    });

  const list = namesPath('static-roles', records.staticRoles, {
    synopsis: 'The names of the static roles.',
    summary: 'Lists the static roles.',
  });

  return [role, list];
}

interface Sent extends SentPlan {
  readonly assume_role_arn: string | undefined;
  readonly assume_role_session_name: string | undefined;
  readonly external_id: string | undefined;
  readonly username: string | undefined;
  readonly grace_period: number | undefined;
}

function changed(host: EngineHost, before: StaticRoleRecord | undefined, sent: Sent): StaticRoleRecord {
  const username = sent.username || before?.username || '';
  if (username === '') throw new BadRequest('missing "username" parameter');
  if (username.length > LONGEST_USER)
    throw new BadRequest(`username has ${username.length} characters, where AWS takes at most ${LONGEST_USER}`);
  if (before && username !== before.username) throw new BadRequest('username of a static role cannot be changed: make another role');
  if (!before && sent.rotation_period === undefined && !sent.rotation_schedule && !sent.disable_automated_rotation) {
    throw new BadRequest('missing "rotation_period" parameter');
  }
  if (sent.rotation_period !== undefined && sent.rotation_period < SHORTEST_PERIOD) {
    throw new InvalidRequest(`role rotation period out of range: must be greater than ${SHORTEST_PERIOD.toFixed(2)} seconds`);
  }
  const plan = planOf(before, sent, { shortestPeriod: SHORTEST_PERIOD });
  const grace = sent.grace_period ?? before?.grace_period ?? 0;
  if (plan.rotation_period > 0 && grace >= plan.rotation_period) {
    throw new BadRequest(`grace_period (${grace} s) must be shorter than rotation_period (${plan.rotation_period} s)`);
  }
  const {
    rotation_period: _p,
    rotation_schedule: _s,
    rotation_window: _w,
    disable_automated_rotation: _d,
    first_rotation_offset: _o,
    assume_role_arn: _a,
    assume_role_session_name: _n,
    external_id: _e,
    ...kept
  } = {
    ...(before ?? { id: newId(host), last_rotation: 0, next_rotation: 0, rotation_period: 0, rotation_schedule: '', rotation_window: 0 }),
  } as StaticRoleRecord;
  return { ...kept, ...plan, ...assumedRoleOf(before, sent), username, grace_period: grace };
}

function visible(name: string, record: StaticRoleRecord) {
  const { id, username, grace_period } = record;
  return { name, id, username, ...visiblePlan(record), ...(grace_period > 0 ? { grace_period } : {}), ...visibleAssumedRole(record) };
}

/** As the ids of Vault and OpenBao look: 20 lower-case letters and digits. */
function newId(host: EngineHost): string {
  return Array.from(host.randomBytes(ID_LENGTH), (byte) => (byte % 36).toString(36)).join('');
}
