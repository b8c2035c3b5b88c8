import type { ManagedAccount } from '@strongroom/engine-sdk';
import { Type, type TSchema } from 'typebox';
import type { Login } from './login.ts';
import type { Claim, Lens } from './rotation-machine.ts';

/** A change of a credential that has begun: what may be outside by now, and who is at work on it until when. */
export interface PendingChange<C> extends Claim {
  readonly made: C;
}

/** A replaced credential that stays good for a while. */
export interface RetiringCredential<C> {
  /** When it ends, in milliseconds. */
  readonly at: number;
  /** Absent where it was never known. */
  readonly made?: C;
}

/** What is stored of a credential that is rotated. What is undefined is not stored. */
export interface RotationState<C> {
  /** Milliseconds; 0 before the first rotation. */
  readonly last_rotation: number;
  /** Milliseconds; 0 where none is planned. In the past: a rotation is due, and retried until it is through. */
  readonly next_rotation: number;
  /** Since when a rotation is asked for that is not through, in milliseconds: it is due whatever the plan says, and retried until it is. */
  readonly demanded?: number | undefined;
  /** Absent until the first rotation is through. */
  readonly current?: C | undefined;
  /** The one before, where it is kept. */
  readonly previous?: C | undefined;
  /** What was replaced and is still good until `at`, in milliseconds; `made` is absent where it was never known. */
  readonly retiring?: RetiringCredential<C>[] | undefined;
  readonly pending?: PendingChange<C> | undefined;
  /**
   * A candidate whose change was acknowledged while the current credential was still the one that was accepted. It is kept, and tried first, since the
   * server that was asked may have heard of the change later than others.
   */
  readonly shelved?: C | undefined;
  /** The last failure since the last success. */
  readonly last_error?: { readonly message: string; readonly at: number } | undefined;
  /** What a login with the stored credentials found at the last rotation that was tried; absent in records of older releases. */
  readonly login?: Login | undefined;
  /** The account in the registry of managed accounts; absent while it is not known. */
  readonly managed_account?: ManagedAccount | undefined;
}

/** The schema of `RotationState`, to spread into a record. */
export function rotationStateFields<C extends TSchema>(credential: C) {
  return {
    last_rotation: Type.Number(),
    next_rotation: Type.Number(),
    demanded: Type.Optional(Type.Number()),
    current: Type.Optional(credential),
    previous: Type.Optional(credential),
    shelved: Type.Optional(credential),
    retiring: Type.Optional(Type.Array(Type.Object({ at: Type.Number(), made: Type.Optional(credential) }))),
    pending: Type.Optional(Type.Object({ made: credential, begun: Type.Number(), claim: Type.String(), until: Type.Number() })),
    last_error: Type.Optional(Type.Object({ message: Type.String(), at: Type.Number() })),
    login: Type.Optional(
      Type.Union([
        Type.Literal('accepted'),
        Type.Literal('refused'),
        Type.Literal('unreachable'),
        Type.Literal('inconclusive'),
        Type.Literal('not_tried'),
      ]),
    ),
    managed_account: Type.Optional(Type.Object({ system: Type.String(), name: Type.String() })),
  };
}

/** Where in a record its rotation state is. */
export type StateLens<R, C> = Lens<R, RotationState<C>>;

/** For records that were made by spreading `rotationStateFields`. */
export function ownState<R extends RotationState<C>, C>(): StateLens<R, C> {
  return ownFields<R, RotationState<C>>(rotationStateFields(Type.Unknown()));
}

/** For records that have the fields of a state themselves; `fields` names them. */
export function ownFields<R extends S, S extends object>(fields: Readonly<Record<keyof S & string, unknown>>): Lens<R, S> {
  const names = Object.keys(fields) as (keyof S & string)[];
  return {
    state: (record) => record,
    withState: (record, state) => {
      const next = { ...record };
      for (const name of names) {
        if (state[name] === undefined) delete next[name];
        else next[name] = state[name] as R[keyof S & string];
      }
      return next;
    },
  };
}

/** The fields that are not undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
