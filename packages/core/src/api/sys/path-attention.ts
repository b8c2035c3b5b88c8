import { BadRequest, f, NotFound, pageFields, path, ShownCircuit, shownCircuit, TokenRefused, type AnyPath } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { Attention, AttentionView, Viewer } from '../../services/attention/attention.ts';
import {
  KINDS,
  SEVERITIES,
  type AttentionItem,
  type Cause,
  type Kind,
  type Right,
  type Severity,
  type Trouble,
} from '../../services/attention/attention-item.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import { circuitSeenBy, rightsAt } from '../../services/attention/mount-troubles.ts';
import { jobId } from '../../services/jobs/job-record.ts';
import type { Jobs } from '../../services/jobs/jobs.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import { targetKey, type OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { Acl } from '../../services/policies/acl.ts';
import type { PolicyOperation } from '../../services/policies/capability.ts';
import { Job, jobData, mountAsked, OutsideSystem } from './work-data.ts';

export interface AttentionPathDeps {
  readonly attention: Attention;
  readonly jobs: Jobs;
  readonly mounts: Pick<MountTable, 'at'>;
  readonly outside: OutsideSystems;
  /** Undefined for what is no token, or none that is good at this address. */
  aclOfToken(token: string, remoteAddress: string): Promise<Acl | undefined>;
  /** The path as policies see it; undefined for what is no path. */
  canonical(path: string, operation: PolicyOperation): { readonly path: string; readonly folds?: PathFolds } | undefined;
}

const When = Type.Union([Type.String(), Type.Null()]);
const Text = Type.Union([Type.String(), Type.Null()]);

const Thing = Type.Object({
  mount: Text,
  noun: Type.String({ description: 'What it is: `static role`.' }),
  name: Type.String(),
  path: Text,
  message: Type.String(),
  since: When,
  attempts: Type.Integer({ description: 'Failed tries since the last success.' }),
  next_attempt: When,
  job: Text,
  retry: Type.Union([Type.String(), Type.Null()], { description: 'The path whose update tries again now.' }),
});

const Item = Type.Object({
  id: Type.String({ description: 'Stays the same while the cause does.' }),
  kind: Type.Unsafe<Kind>(Type.String({ enum: [...KINDS] })),
  mount: Text,
  mount_type: Text,
  target: Type.String({ description: 'What fails, in words; the outside system where several things fail at one.' }),
  severity: Type.Unsafe<Severity>(Type.String({ enum: [...SEVERITIES] })),
  since: When,
  message: Type.String({ description: 'In the words of whoever failed.' }),
  attempts: Type.Integer({ description: 'The most failed tries of one of the things.' }),
  next_attempt: When,
  cause: Type.Union([Type.Object({ system: OutsideSystem, circuit: ShownCircuit }), Type.Null()]),
  count: Type.Integer({ description: 'How many things fail for this cause.' }),
  things: Type.Array(Thing, { description: 'The first of them; all of them in the answer about one item.' }),
});

/** Things of an item that a list shows. */
const EXAMPLES = 3;

/** `sys/internal/ui/attention`: what needs a person. */
export function attentionPaths(deps: AttentionPathDeps): AnyPath[] {
  const { jobs, mounts, outside } = deps;
  const viewer = async (req: object): Promise<Viewer> => {
    const { token, remoteAddress = '' } = internalOf(req).request;
    const acl = token ? await deps.aclOfToken(token, remoteAddress) : undefined;
    if (!acl) throw new TokenRefused();
    return viewerOf(acl, deps);
  };
  const view = async (req: object): Promise<AttentionView> => deps.attention.view(await viewer(req));
  return [
    path('internal/ui/attention', {
      synopsis: 'What needs a person.',
      description:
        'What fails, of all mounts and of the server, grouped by cause and sorted by harm. Only what the token may read: a thing of a mount by `<mount>/failing` or its own path, ' +
        'leases by `sys/leases`, the journal by `sys/journal`, jobs and overdue work by `sys/schedule`, audit devices by `sys/audit`, seals by `sys/seal-backend-status`, removals by `sys/removals`, ' +
        'plugins by `sys/plugins/catalog`, tokens by the list of `auth/token/accessors`.',
      access: 'unauthenticated',
      fields: {
        ...pageFields,
        after: f.string('The id of an item: lists those behind it.'),
        mount: f.string('Only what fails at this mount path.'),
        kind: f.string(`Only one kind: ${KINDS.join(', ')}.`),
      },
    }).read({
      summary: 'Shows what needs a person.',
      response: Type.Object({
        items: Type.Array(Item),
        total: Type.Integer({ description: 'Of all pages.' }),
        counts: Type.Record(Type.String(), Type.Integer(), { description: 'Items by kind, of all pages.' }),
        types: Type.Record(Type.String(), Type.Integer(), { description: 'Items by type of their mount, of all pages.' }),
        complete: Type.Boolean({ description: 'False where more fails than is read.' }),
        as_of: Type.String(),
      }),
      handle: async (req) => {
        const { after, limit, mount, kind } = req.data;
        if (kind && !KINDS.some((known) => known === kind)) throw new BadRequest(`kind must be one of ${KINDS.join(', ')}`);
        const at = mount && (mount.endsWith('/') ? mount : `${mount}/`);
        const seen = await view(req);
        const items = seen.items.filter((item) => (!kind || item.kind === kind) && (!at || item.mount?.path === at));
        const from = after ? items.findIndex(({ id }) => id === after) + 1 : 0;
        if (after && from === 0) throw new BadRequest('after: there is no such item any more; read the first page again');
        const page = items.slice(from, limit !== undefined && limit > 0 ? from + limit : undefined);
        return {
          data: {
            items: page.map((item) => itemData(item, EXAMPLES)),
            total: items.length,
            counts: counted(items.map((item) => item.kind)),
            types: counted(items.flatMap((item) => item.mount?.type ?? [])),
            complete: seen.complete,
            as_of: seen.asOf.toISOString(),
          },
        };
      },
    }),
    path('internal/ui/attention/{id}', {
      synopsis: 'One thing that needs a person.',
      description: 'With everything that fails for its cause. It is gone once that works again.',
      access: 'unauthenticated',
      fields: { id: f.name('As `sys/internal/ui/attention` shows it.') },
    }).read({
      summary: 'Shows one item.',
      response: Item,
      handle: async (req) => {
        const item = (await view(req)).items.find(({ id }) => id === req.data.id);
        if (!item) throw new NotFound();
        return { data: itemData(item, Infinity) };
      },
    }),
    path('internal/ui/job', {
      synopsis: 'How the work for one thing stands.',
      description:
        'The job of a role, an association or anything else of a mount, with its last tries and the circuit breaker of its outside system. For callers who may read `failing` of the ' +
        'mount, the path of the thing, or `sys/schedule`; to others there is no such job.',
      access: 'unauthenticated',
      fields: {
        mount: f.string('The path of the mount.', { required: true }),
        kind: f.string('The kind of the job, such as `rotate-static-role`.', { required: true }),
        id: f.string('The id that the engine gave it: for most, the name of what it is for.', { required: true }),
      },
    }).read({
      summary: 'Shows one job.',
      response: Type.Object({
        ...Job.properties,
        mount_type: Type.String(),
        retry: Type.Union([Type.String(), Type.Null()], { description: 'The path whose update tries again now.' }),
        circuit: Type.Union([ShownCircuit, Type.Null()]),
      }),
      handle: async (req) => {
        const seeing = await viewer(req);
        for (const name of ['mount', 'kind', 'id'] as const) if (!req.data[name]) throw new BadRequest(`missing required field "${name}"`);
        const mount = mountAsked(mounts, req.data.mount);
        const job = mount && mount !== 'none' ? await jobs.find(jobKey(mount, req.data)) : undefined;
        if (!job || !mount || mount === 'none' || !rightsAt(mount, job.about).some((right) => seeing.may(right))) throw new NotFound();
        const { about, target } = job;
        return {
          data: {
            ...jobData(job, mount),
            mount_type: mount.type,
            retry: about?.retry === undefined ? null : mount.path + about.retry,
            circuit: target
              ? shownCircuit(
                  circuitSeenBy(seeing, { mount, target }, outside.breakers.status(targetKey(mount.uuid, target)), job.status.attempts),
                )
              : null,
          },
        };
      },
    }),
  ];
}

function counted(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function jobKey({ uuid }: Mount, { kind, id }: { readonly kind: string; readonly id: string }): string {
  return jobId(uuid, kind, id);
}

function viewerOf(acl: Acl, { canonical }: AttentionPathDeps): Viewer {
  const known = new Map<string, boolean>();
  const check = ({ path: asked, operation, sudo = false }: Right): boolean => {
    const found = canonical(asked, operation);
    if (!found) return false;
    const verdict = acl.check({ operation, ...found });
    return verdict.allowed && (!sudo || verdict.sudo);
  };
  return {
    reaches: (prefix) => acl.reaches(prefix),
    may: (right) => {
      const key = `${right.operation} ${right.path}`;
      let allowed = known.get(key);
      if (allowed === undefined) known.set(key, (allowed = check(right)));
      return allowed;
    },
  };
}

function itemData(item: AttentionItem, most: number): Static<typeof Item> {
  const { troubles, mount, cause } = item;
  return {
    id: item.id,
    kind: item.kind,
    mount: mount?.path ?? null,
    mount_type: mount?.type ?? null,
    target: targetOf(item),
    severity: item.severity,
    since: item.since?.toISOString() ?? null,
    message: item.message,
    attempts: item.attempts,
    next_attempt: item.nextAttempt?.toISOString() ?? null,
    cause: cause && mount ? causeData(mount, cause) : null,
    count: troubles.length,
    things: troubles.slice(0, most).map(thingData),
  };
}

function targetOf({ troubles, cause }: AttentionItem): string {
  const [first] = troubles as [Trouble, ...Trouble[]];
  const called = ({ noun, name }: { noun: string; name: string }): string => `${noun} ${name}`.trim();
  return troubles.length > 1 && cause?.subject ? called(cause.subject) : called(first.subject);
}

function causeData(mount: Mount, { target, subject, circuit }: Cause): Static<typeof Item>['cause'] {
  const named = subject ? { name: `${subject.noun} ${subject.name}`.trim(), path: mount.path + subject.path } : { name: target };
  return {
    system: { target, ...named },
    circuit: shownCircuit(circuit),
  };
}

function thingData({ mount, kind, subject, message, since, attempts, nextAttempt, job }: Trouble): Static<typeof Thing> {
  // The server's own lists of leases and changes name whole paths.
  const at = (below: string): string => (mount && kind !== 'journal' && kind !== 'lease' ? mount.path + below : below);
  return {
    mount: mount?.path ?? null,
    noun: subject.noun,
    name: subject.name,
    path: subject.path === '' ? null : at(subject.path),
    message,
    since: since?.toISOString() ?? null,
    attempts,
    next_attempt: nextAttempt?.toISOString() ?? null,
    job: job ?? null,
    retry: subject.retry === undefined ? null : at(subject.retry),
  };
}
