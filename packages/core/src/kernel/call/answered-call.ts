import type { AnyPath, Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import type { CoreResponse } from './core-response.ts';
import type { RequestOperation } from './core-request.ts';

/** A call that its operation has answered. */
export interface AnsweredCall {
  readonly operation: RequestOperation;
  readonly path: string;
  readonly declaration: AnyPath;
  readonly op: Op<TProperties, TSchema>;
  readonly answer: CoreResponse;
}
