import {
  type AnyPath,
  BadRequest,
  type EngineError,
  type EngineResponse,
  f,
  NoContent,
  NotFound,
  orNoContent,
  path,
  Timestamp,
  UpstreamFailed,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { leftData, leftWarning, LeftOutsideData } from '../../services/outside/left-outside.ts';
import type { RemovedMount } from '../../services/removal/removed-mounts.ts';
import type { Removed, Removals } from '../../services/removal/removals.ts';
import { Removal, removalData } from './mount-data.ts';

/** What a removal answers: nothing, that it goes on, or what it left outside. */
export const RemovedAnswer = orNoContent(
  Type.Object({ removing: Type.Optional(Type.Boolean()), left_outside: Type.Optional(Type.Array(LeftOutsideData)) }),
);

/** The removal goes on after the answer. */
export const GoesOn = Type.Object({ removing: Type.Boolean() });

const Removing = Type.Object({ type: Type.String(), ...Removal.properties });
const removed = {
  path: Type.String(),
  type: Type.String(),
  accessor: Type.String(),
  forced: Type.Boolean(),
  at: Timestamp,
  left_outside: Type.Array(LeftOutsideData),
  count: Type.Integer({ description: 'All that were left, where `left_outside` does not name all.' }),
  unlisted: Type.Optional(Type.String({ description: 'Why the list may be incomplete.' })),
};
const RemovedData = Type.Object(removed);

/** `sys/removals`: mounts that are being removed, and what those before them left outside. */
export function removalPaths({ removals }: { removals: Removals }): AnyPath[] {
  const mountOf = (name: string): string => `${name.replace(/^\/+|\/+$/g, '')}/`;
  return [
    path('removals', {
      synopsis: 'The mounts that are being removed, and what others left outside.',
      description:
        'A removal that cannot be completed is tried again until it is. `removed` has the last hundred mounts that left something outside, the newest first.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'Shows removals.',
      response: Type.Object({ removing: Type.Record(Type.String(), Removing), removed: Type.Array(RemovedData) }),
      handle: async () => {
        const underWay = await removals.underWay();
        return {
          data: {
            removing: Object.fromEntries(underWay.map((removal) => [removal.path, { type: removal.type, ...removalData(removal) }])),
            removed: (await removals.finished()).map(removedData),
          },
        };
      },
    }),
    path('removals/{path:all}', {
      synopsis: 'The removal of one mount.',
      description: 'The path is that of the mount, for a login method with the leading `auth/`.',
      access: 'sudo',
      fields: { path: f.name('Where it is mounted.') },
    })
      .read({
        summary: 'Shows how the removal stands, or what the mount left outside.',
        response: Type.Union([Removing, Type.Object({ phase: Type.Literal('removed'), ...removed })]),
        handle: async ({ data }) => {
          const at = mountOf(data.path);
          const underWay = (await removals.underWay()).find((removal) => removal.path === at);
          if (underWay) return { data: { type: underWay.type, ...removalData(underWay) } };
          const finished = (await removals.finished()).find((removed) => removed.path === at);
          if (!finished) throw new NotFound();
          return { data: { phase: 'removed' as const, ...removedData(finished) } };
        },
      })
      .update({
        summary: 'Tries again now.',
        response: RemovedAnswer,
        answers: { 202: GoesOn },
        handle: async ({ data }) => removedAnswer(mountOf(data.path), await removals.retry(mountOf(data.path))),
      })
      .delete({
        summary: 'Cancels the removal. What was taken back stays so.',
        response: NoContent,
        handle: async ({ data }) => {
          await removals.cancel(mountOf(data.path));
          return undefined;
        },
      }),
  ];
}

/** What whoever removes a mount is answered: 204 for one that left nothing outside. @throws EngineError with the reason where it is refused for now */
export function removedAnswer(
  at: string,
  removed: Removed,
  { forced = false } = {},
): EngineResponse<Static<typeof RemovedAnswer>> | undefined {
  switch (removed.state) {
    case 'nothing':
      return undefined;
    case 'refused':
      throw refusal(at, removed.reason);
    case 'going on':
      return {
        status: 202,
        data: { removing: true },
        warnings: [
          `the removal of ${at} is not complete and continues in the background; GET sys/removals/${at.slice(0, -1)} shows how it stands`,
        ],
      };
    case 'removed': {
      const warnings = [leftWarning(removed.left), removed.unlisted].filter((warning) => warning !== undefined);
      if (warnings.length === 0 && !forced) return undefined;
      return { data: { left_outside: leftData(removed.left) }, ...(warnings.length > 0 ? { warnings } : {}) };
    }
  }
}

/** The reason stays first, and whose fault it is: a client that knows no more can still tell what failed. */
function refusal(at: string, reason: EngineError): EngineError {
  const text = `${reason.message}. The removal of ${at} continues in the background; sys/removals/${at.slice(0, -1)} shows and cancels it`;
  return reason.status < 500 ? new BadRequest(text) : new UpstreamFailed(text);
}

function removedData({ left, count, unlisted, at, ...mount }: RemovedMount): Static<typeof RemovedData> {
  return {
    ...mount,
    at: new Date(at).toISOString(),
    left_outside: leftData(left),
    count,
    ...(unlisted === undefined ? {} : { unlisted }),
  };
}
