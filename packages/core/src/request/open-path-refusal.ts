import { UnsupportedOperation, type ErrorForm } from '@strongroom/engine-sdk';

/** The refusal of an operation on a path that asks for no token: the wire prints it plain. */
export class OpenPathRefusal extends UnsupportedOperation {
  override readonly form: ErrorForm = 'plain';
}
