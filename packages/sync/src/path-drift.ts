import { BadRequest, f, NotFound, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { callFailed } from './call-failed.ts';
import type { Associations } from './associations.ts';
import { typeField, type DestinationTypes } from './destination-types.ts';
import type { Drift, Finding } from './drift.ts';
import { DriftTally, type DriftFindings } from './drift-findings.ts';
import type { Reconciliation } from './reconciliation.ts';
import { placeOf, recordsIn, settingsIn, type DestinationRecord } from './records.ts';

const Item = Type.Object({
  mount: Type.String(),
  secret_name: Type.String(),
  sub_key: Type.Optional(Type.String()),
  remote_name: Type.String(),
  remote_version: Type.Optional(Type.String()),
});
const Plan = Type.Object({
  additions: Type.Array(Item),
  changes: Type.Array(Item),
  foreign_edits: Type.Array(Item),
  removals: Type.Array(Item),
  conflicts: Type.Array(Item),
  refused: Type.Array(Item),
  orphans: Type.Array(Type.Object({ remote_name: Type.String(), remote_version: Type.Optional(Type.String()) })),
  /** Of all of them, also those that the lists leave out. */
  total: Type.Integer(),
  in_sync: Type.Integer(),
});
const LIST_OF = {
  add: 'additions',
  change: 'changes',
  foreign_edit: 'foreign_edits',
  remove: 'removals',
  conflict: 'conflicts',
  refused: 'refused',
} as const;
/** Differences that an answer lists; the rest is counted. */
const MOST_LISTED = 1_000;

/** `destinations/<type>/<name>/plan` and `…/reconcile`: what differs outside, and its repair. */
export function driftPaths(
  host: EngineHost,
  types: DestinationTypes,
  associations: Associations,
  drift: Drift,
  reconciliation: Reconciliation,
  findings: DriftFindings,
): AnyPath[] {
  const fields = { type: typeField(types), destination: f.name('Name of the destination.') };
  const requireDestination = async (data: { readonly type: string; readonly destination: string }): Promise<DestinationRecord> => {
    const place = placeOf({ type: data.type, name: data.destination });
    const found = await recordsIn(host.storage).destinations.get(place);
    if (!found) types.of(data.type);
    if (!found) throw new NotFound(`there is no destination ${data.type}/${data.destination}`);
    return found;
  };
  const item = ({ association, key, remoteName, remoteVersion }: Finding) => ({
    mount: associations.mountPath(association).replace(/\/$/, ''),
    secret_name: association.secret_name,
    ...(key === '' ? {} : { sub_key: key }),
    remote_name: remoteName,
    ...(remoteVersion === undefined ? {} : { remote_version: remoteVersion }),
  });
  return [
    path('destinations/{type}/{destination}/plan', {
      synopsis: 'What differs between a destination and what it should hold.',
      description:
        'Changes no secret, inside or outside. Lists of more than 1,000 differences end there; total counts all. Copies that were edited or are missing outside are shown ' +
        'in `sys/internal/ui/attention` from then on, until they are repaired.',
      fields,
    }).read({
      summary: 'Compares what is there with what should be.',
      response: Plan,
      handle: async ({ data, signal }) => {
        const destination = await requireDestination(data);
        const plan = { additions: [], changes: [], foreign_edits: [], removals: [], conflicts: [], refused: [], orphans: [] } as Record<
          string,
          unknown[]
        >;
        let total = 0;
        const tally = new DriftTally();
        const add = (list: string, entry: () => unknown): void => {
          total += 1;
          if (total <= MOST_LISTED) plan[list]!.push(entry());
        };
        try {
          const in_sync = await drift.compare(destination, signal, {
            looks: true,
            differs: async (_, finding) => {
              add(LIST_OF[finding.difference], () => item(finding));
              tally.add(finding);
            },
            orphan: async ({ name, revision }) =>
              add('orphans', () => ({ remote_name: name, ...(revision === undefined ? {} : { remote_version: revision }) })),
          });
          await findings.found(destination, tally);
          return { data: { ...plan, total, in_sync } as never };
        } catch (error) {
          throw callFailed(types.installed(destination.type), destination, error);
        }
      },
    }),
    path('destinations/{type}/{destination}/reconcile', {
      synopsis: 'Repairs what differs outside.',
      description: 'Every association that differs is put into the queue and looked at outside; nothing is written where nothing differs.',
      fields: {
        ...fields,
        remove_orphans: f.bool('Also remove secrets that carry the mark of this destination and belong to no association.', {
          default: false,
        }),
      },
    }).update({
      summary: 'Repairs what differs outside.',
      response: Type.Object({ queued: Type.Integer(), orphans_removed: Type.Integer() }),
      handle: async ({ data, signal }) => {
        const destination = await requireDestination(data);
        if (data.remove_orphans && (await settingsIn(recordsIn(host.storage))).disabled) {
          throw new BadRequest('remove_orphans removes secrets outside, and sys/sync/config has disabled=true: set disabled=false first');
        }
        try {
          const { queued, removed } = await reconciliation.repair(destination, signal, { removeOrphans: data.remove_orphans });
          return { data: { queued, orphans_removed: removed } };
        } catch (error) {
          throw callFailed(types.installed(destination.type), destination, error);
        }
      },
    }),
  ];
}
