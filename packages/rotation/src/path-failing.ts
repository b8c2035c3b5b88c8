import { path, type AnyPath } from '@strongroom/engine-sdk';
import { Type, type Static, type TObject, type TProperties } from 'typebox';
import { RotationStatus } from './rotation-status.ts';

/** `GET <mount>/failing`, in the words of an engine. */
export interface FailingPath<F extends TProperties> {
  readonly description: string;
  readonly summary: string;
  /** The lists of the answer, by name: the statuses of the records whose rotation is in trouble. See `inTrouble`. */
  readonly rotations: Readonly<Record<string, () => Promise<Record<string, RotationStatus>>>>;
  /** What else the answer has. */
  readonly also?: { readonly response: F; read(): Promise<Static<TObject<F>>> };
}

/** What does not work at the moment. */
export function failingPath<F extends TProperties = Record<never, never>>({
  description,
  summary,
  rotations,
  also,
}: FailingPath<F>): AnyPath {
  const lists = Object.fromEntries(Object.keys(rotations).map((name) => [name, Type.Record(Type.String(), RotationStatus)]));
  const response: TProperties = { ...lists, ...also?.response };
  return path('failing', { synopsis: 'What does not work at the moment.', description, fields: {} }).read({
    summary,
    response: Type.Object(response),
    handle: async () => {
      const data: Record<string, unknown> = {};
      for (const [name, read] of Object.entries(rotations)) data[name] = await read();
      return { data: { ...data, ...(await also?.read()) } };
    },
  });
}
