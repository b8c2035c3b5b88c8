import { type AnyPath, type Clock, type Field, NoContent, path } from '@strongroom/engine-sdk';
import { Type, type Static, type TObject, type TProperties } from 'typebox';
import { secondsToRotation } from './rotation-answer.ts';
import { visiblePlan, visiblePlanFields, type RotationPlan } from './rotation-plan.ts';
import type { RotationState } from './rotation-state.ts';
import { warned } from './warned.ts';

/** A credential as `read` finds it. */
export interface StaticCredential<D> {
  readonly data: D;
  readonly role: RotationPlan & Pick<RotationState<unknown>, 'next_rotation' | 'demanded'>;
  /** When the credential was last rotated, in milliseconds; 0 for never. */
  readonly since: number;
  readonly warnings?: readonly (string | undefined)[];
}

/** The paths that read and rotate the credentials of static roles, in the words of an engine. */
export interface StaticCredsPaths<F extends TProperties> {
  readonly creds: 'static-creds/{name}' | 'static-creds/{name:at}' | 'static-cred/{name:path}';
  readonly rotateRole: 'rotate-role/{name}' | 'rotate-role/{name:at}' | 'rotate-role/{name:path}';
  /** The field of the role's name. */
  readonly name: Field<string>;
  /** What is rotated. */
  readonly noun: 'credential' | 'password' | 'key';
  /** How the description goes on after the time of the next rotation. */
  readonly goesOn?: string;
  /** How a rotation is called. */
  readonly verb?: 'Rotates' | 'Replaces';
  /** What an answer has beside the times and the plan. */
  readonly response: F;
  /** What `ttl` means. */
  readonly ttl?: string;
  /** Whether an answer shows the plan of the role. */
  readonly showsPlan: boolean;
  /** The time of the last rotation as answers show it. Default: RFC 3339. */
  time?(millis: number): string;
  /** Undefined where there is no such role: 404. A throw answers in another way. */
  read(name: string, signal: AbortSignal): Promise<StaticCredential<Static<TObject<F>>> | undefined>;
  /** Resolves with a warning where not all went well. */
  rotate(name: string, signal: AbortSignal): Promise<string | undefined>;
}

/** `static-creds` and `rotate-role`. */
export function staticCredsPaths<F extends TProperties>(clock: Clock, words: StaticCredsPaths<F>): readonly AnyPath[] {
  const { noun, goesOn = '.', verb = 'Rotates', ttl = 'Seconds until the next rotation.' } = words;
  const { showsPlan, time = (millis) => new Date(millis).toISOString() } = words;
  const response: TProperties = {
    ...words.response,
    ttl: Type.Number({ description: ttl }),
    ...(showsPlan ? visiblePlanFields : {}),
    last_vault_rotation: Type.String(),
  };
  const creds = path(words.creds, {
    synopsis: `The current ${noun}s of static roles.`,
    description: `No lease: the ${noun} is good until the next rotation, which is ttl seconds away${goesOn}`,
    fields: { name: words.name },
  }).read({
    summary: `Reads the current ${noun} of a static role.`,
    response: Type.Object(response),
    handle: async ({ data: { name }, signal }) => {
      const found = await words.read(name, signal);
      if (!found) return undefined;
      const warnings = (found.warnings ?? []).filter((warning) => warning !== undefined);
      const data: Record<string, unknown> = {
        ...(found.data as object),
        ttl: secondsToRotation(found.role, clock.millis()),
        ...(showsPlan ? visiblePlan(found.role) : {}),
        last_vault_rotation: time(found.since),
      };
      return { data, ...(warnings.length > 0 ? { warnings } : {}) };
    },
  });
  const rotate = path(words.rotateRole, {
    synopsis: `${verb} the ${noun} of a static role now.`,
    description: 'The time to the next rotation starts again.',
    fields: { name: words.name },
  }).update({
    summary: 'Rotates now.',
    response: NoContent,
    handle: async ({ data: { name }, signal }) => warned(await words.rotate(name, signal)),
  });
  return [creds, rotate];
}
