import {
  type AnyPath,
  type Collection,
  type EngineRequest,
  type EngineResponse,
  f,
  type Field,
  namesPath,
  NoContent,
  path,
  shownFields,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import type { TProperties } from 'typebox';

/** Records that operators write by name: roles, users, certificates. */
export interface RecordPaths<C extends string, F extends TProperties, R> {
  /** The segment: `role` makes `LIST role` and `role/:name`. */
  readonly at: string;
  /** Name of the capture, and of its field. */
  readonly capture: C;
  /** Of one record, in lower case: `role`. */
  readonly noun: string;
  readonly synopsis: string;
  readonly description: string;
  readonly fields: F;
  readonly storage: StorageView;
  /** Where the records are: the same collection in a view and in a transaction of it. */
  readonly records: (view: StorageView | Transaction) => Collection<R>;
  /** What a read shows. */
  readonly read: (record: R, name: string) => Record<string, unknown>;
  /** What a read shows beside the fields, or in another form. */
  readonly shows?: TProperties;
  /**
   * What a write makes of the record; runs within the transaction that stores it, and again after a conflict. @throws BadRequest naming the field
   */
  readonly write: (
    stored: R | undefined,
    req: EngineRequest<F & Record<C, Field<string>>>,
    tx: Transaction,
    name: string,
  ) => Promise<Written<R>> | Written<R>;
  /** Within the transaction that deletes the record. */
  readonly removed?: (record: R, name: string, tx: Transaction) => Promise<void>;
  /** As `exactNumbers` of a path: fields of any value keep the digits of their numbers. */
  readonly exactNumbers?: boolean;
  /** Writes are always `update` to policies, also of what does not exist yet. */
  readonly alwaysUpdate?: boolean;
}

/** The record that a write stores, and what its answer warns of. */
export interface Written<R> {
  readonly record: R;
  readonly warnings?: readonly string[];
}

/** The field of the capture that names a record, for further paths below it. `noun` as in `RecordPaths`. */
export function recordName(noun: string): Field<string> {
  return f.name(`Name of the ${noun}.`, { folds: lowerCase });
}

/** One function for all paths: a capture cannot fold in different ways. */
function lowerCase(name: string): string {
  return name.toLowerCase();
}

/**
 * Declares the paths of named records: list, read, write and delete. Names are letters, digits, `_`, `-` and `.`; case does not matter. A write changes
 * what it supplies, and is the capability `create` if there is no record yet.
 */
export function recordPaths<const C extends string, F extends TProperties, R>(kind: RecordPaths<C, F, R>): AnyPath[] {
  const { at, capture, noun, storage, records } = kind;
  const nameOf = (req: EngineRequest): string => (req.data as Readonly<Record<string, unknown>>)[capture] as string;
  const fields = { [capture]: recordName(noun), ...kind.fields };
  const write = async (req: EngineRequest): Promise<EngineResponse<never> | undefined> => {
    const name = nameOf(req);
    const { warnings = [] } = await storage.transaction(async (tx) => {
      const written = await kind.write(await records(tx).get(name), req as never, tx, name);
      await records(tx).put(name, written.record);
      return written;
    });
    return warnings.length === 0 ? undefined : { warnings };
  };
  const writes = { summary: `Create or change a ${noun}.`, response: NoContent, handle: write };
  const { synopsis, description, exactNumbers = false } = kind;
  const one = path(`${at}/{${capture}}`, { synopsis, description, exactNumbers, fields: fields as never })
    .read({
      summary: `Read a ${noun}.`,
      response: shownFields(kind.fields, kind.shows),
      handle: async (req) => {
        const name = nameOf(req);
        const record = await records(storage).get(name);
        return record && { data: kind.read(record, name) };
      },
    })
    .delete({
      summary: `Delete a ${noun}.`,
      response: NoContent,
      handle: async (req) => {
        const name = nameOf(req);
        await storage.transaction(async (tx) => {
          const record = await records(tx).get(name);
          if (!record) return;
          await records(tx).delete(name);
          await kind.removed?.(record, name, tx);
        });
        return undefined;
      },
    });
  if (kind.alwaysUpdate === true) one.update(writes);
  else one.upsert({ ...writes, exists: async (req) => records(storage).has(nameOf(req)) });
  return [namesPath(at, { list: async (query) => records(storage).list(query) }, { synopsis: `Names of the ${noun}s.` }), one];
}
