import { type AnyPath, boundsOf, f, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { IntentStatus, Journal } from '../../services/journal/journal.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import { leftData, leftWarning, LeftOutsideData } from '../../services/outside/left-outside.ts';
import { Failure, failureData, mountAsked, OutsideSystem, systemData, Try, tryData } from './work-data.ts';

const Intent = Type.Object({
  id: Type.String(),
  mount: Type.String({ description: 'The path of the mount, or its uuid where it is gone.' }),
  kind: Type.String(),
  opened: Type.String(),
  attempts: Type.Integer(),
  next_attempt: Type.String(),
  last_error: Failure,
  failing_since: Type.Union([Type.String(), Type.Null()]),
  system: OutsideSystem,
  leaves: Type.Union([LeftOutsideData, Type.Null()], { description: 'What may exist outside until it is undone.' }),
  tries: Type.Array(Try),
});

/** `sys/journal`: outside changes that are not finished. */
export function journalPaths({ journal, mounts }: { readonly journal: Journal; readonly mounts: MountTable }): AnyPath[] {
  const dataOf = (intent: IntentStatus): Static<typeof Intent> => ({
    id: intent.id,
    mount: mounts.byUuid(intent.mount)?.path ?? intent.mount,
    kind: intent.kind,
    opened: intent.opened.toISOString(),
    attempts: intent.attempts,
    next_attempt: intent.nextAttempt.toISOString(),
    last_error: failureData(intent.lastError),
    failing_since: intent.failingSince?.toISOString() ?? null,
    system: systemData(mounts.byUuid(intent.mount), intent.target),
    leaves: intent.leaves ? leftData([intent.leaves])[0]! : null,
    tries: intent.tries.map(tryData),
  });
  return [
    path('journal', {
      synopsis: 'Outside changes that are not finished.',
      description:
        'What is not settled is undone at `next_attempt`. `leaves` is what may exist outside until then. The oldest comes first.',
      access: 'sudo',
      fields: {
        ...pageFields,
        failing: f.bool('Only changes that could not be undone yet.', { default: false }),
        mount: f.string('Only changes of this mount path.'),
      },
    }).read({
      summary: 'Shows the journal.',
      response: Type.Object({ intents: Type.Array(Intent) }),
      handle: async ({ data }) => {
        const asked = mountAsked(mounts, data.mount);
        const intents = asked === 'none' ? [] : await journal.list({ ...boundsOf(data), mount: asked?.uuid, failing: data.failing });
        return { data: { intents: intents.map(dataOf) } };
      },
    }),
    path('journal/{id:any}', {
      synopsis: 'One unfinished change to an outside system.',
      description:
        'Deleting it forgets the change without undoing it, for outside systems that are gone for good. A change that may still be under way is neither retried nor forgotten.',
      access: 'sudo',
      fields: { id: f.name('As `sys/journal` shows it.') },
    })
      .read({
        summary: 'Shows the entry.',
        response: Intent,
        handle: async ({ data }) => {
          const intent = await journal.find(data.id);
          return intent && { data: dataOf(intent) };
        },
      })
      .delete({
        summary: 'Forgets the change, and answers what may be left outside.',
        response: Type.Object({ left_outside: Type.Array(LeftOutsideData) }),
        handle: async ({ data }) => {
          const thing = await journal.forget(data.id);
          const left = thing ? [thing] : [];
          const warning = leftWarning(left);
          return { data: { left_outside: leftData(left) }, ...(warning === undefined ? {} : { warnings: [warning] }) };
        },
      }),
    path('journal/{id:any}/retry', {
      synopsis: 'Tries to undo or finish a change now.',
      description:
        'Runs now instead of at the next attempt, even while the circuit breaker of its outside system is open. A failure is answered with its reason.',
      access: 'sudo',
      fields: { id: f.name('As `sys/journal` shows it.') },
    }).update({
      summary: 'Tries again now.',
      response: NoContent,
      handle: async ({ data, signal }) => {
        await journal.retry(data.id, signal);
        return undefined;
      },
    }),
  ];
}
