import type { AnyPath, Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import type { CoreResponse } from './core-response.ts';
import type { RequestOperation } from './core-request.ts';

/** A call of a declared operation, with its answer or refusal. */
export interface AnsweredCall {
  readonly operation: RequestOperation;
  readonly path: string;
  /** The path of its mount, with a closing slash. */
  readonly mount: string;
  readonly declaration: AnyPath;
  readonly op: Op<TProperties, TSchema>;
  readonly answer: CoreResponse;
}
