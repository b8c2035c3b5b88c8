import type { ManagedAccount } from '@strongroom/engine-sdk';
import { Type, type TSchema } from 'typebox';
import type { Login } from './login.ts';

/** A change of a credential that has begun: what may be outside by now, and who is at work on it until when. Milliseconds. */
export interface PendingChange<C> {
  readonly made: C;
  /** When the change was last asked for outside. */
  readonly begun: number;
  readonly claim: string;
  readonly until: number;
}

/** What is stored of a credential that is rotated. */
export interface RotationState<C> {
  /** Milliseconds; 0 before the first rotation. */
  readonly last_rotation: number;
  /** Milliseconds; 0 where none is planned. In the past: a rotation is due, and retried until it is through. */
  readonly next_rotation: number;
  /** Since when a rotation is asked for that is not through, in milliseconds: it is due whatever the plan says, and retried until it is. */
  readonly demanded?: number;
  /** Absent until the first rotation is through. */
  readonly current?: C;
  /** The one before, where it is kept. */
  readonly previous?: C;
  readonly pending?: PendingChange<C>;
  /**
   * A candidate whose change was acknowledged while the current credential was still the one that was accepted. It is kept, and tried first, since the
   * server that was asked may have heard of the change later than others.
   */
  readonly shelved?: C;
  /** The last failure since the last success. */
  readonly last_error?: { readonly message: string; readonly at: number };
  /** What a login with the stored credentials found at the last rotation that was tried; absent in records of older releases. */
  readonly login?: Login;
  /** The account in the registry of managed accounts; absent while it is not known. */
  readonly managed_account?: ManagedAccount;
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
export interface StateLens<R, C> {
  state(record: R): RotationState<C>;
  /** The record with this state in place of its own; what the state lacks, the record then lacks too. */
  withState(record: R, state: RotationState<C>): R;
}

/** For records that were made by spreading `rotationStateFields`. */
export function ownState<R extends RotationState<C>, C>(): StateLens<R, C> {
  return {
    state: (record) => record,
    withState: (record, state) => {
      const {
        demanded: _d,
        current: _c,
        previous: _p,
        pending: _w,
        shelved: _s,
        last_error: _e,
        login: _l,
        managed_account: _a,
        ...rest
      } = record;
      const { last_rotation, next_rotation, demanded, current, previous, pending, shelved, last_error, login, managed_account } = state;
      return {
        ...rest,
        last_rotation,
        next_rotation,
        ...(demanded === undefined ? {} : { demanded }),
        ...(current === undefined ? {} : { current }),
        ...(previous === undefined ? {} : { previous }),
        ...(pending === undefined ? {} : { pending }),
        ...(shelved === undefined ? {} : { shelved }),
        ...(last_error === undefined ? {} : { last_error }),
        ...(login === undefined ? {} : { login }),
        ...(managed_account === undefined ? {} : { managed_account }),
      } as unknown as R;
    },
  };
}
