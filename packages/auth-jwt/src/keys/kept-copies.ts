import { createHash } from 'node:crypto';
import { writeJson, type Collection, type Log, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Fetched } from './get-json.ts';
import type { Trust } from './issuer-http.ts';

/** `at`: when it was fetched, in milliseconds since the epoch. */
const Kept = Type.Object({
  body: Type.Record(Type.String(), Type.Unknown()),
  max_age: Type.Optional(Type.Number()),
  at: Type.Number(),
});
type Kept = Static<typeof Kept>;

/** Milliseconds after which what has not changed is stored again, so that its lifetime counts from there. */
const STORED_AGAIN = 21_600_000;

/** A copy in the store, which outlives the process and serves all servers of the store. */
export interface KeptCopy {
  load(): Promise<(Fetched & { readonly at: number }) | undefined>;
  /** Never rejects: what cannot be kept is still used. */
  save(fetched: Fetched, at: number): Promise<void>;
}

/** One copy, by what it is of and by whom it was fetched: with other certificates it is another one. */
export function keptCopy(storage: StorageView, log: Log, what: string, trust: Trust): KeptCopy {
  const id = createHash('sha256')
    .update(JSON.stringify([what, trust]))
    .digest('hex');
  return {
    load: async () => {
      const kept = await copiesIn(storage).get(id);
      return kept && { body: kept.body, maxAge: kept.max_age, at: kept.at };
    },
    save: async ({ body, maxAge }, at) => {
      try {
        const kept = await copiesIn(storage).get(id);
        if (kept && at - kept.at < STORED_AGAIN && writeJson(kept.body) === writeJson(body)) return;
        await copiesIn(storage).put(id, { body: { ...body }, at, ...(maxAge === undefined ? {} : { max_age: maxAge }) });
      } catch (error) {
        log.warn(`${what} could not be stored`, { error });
      }
    },
  };
}

/** Forgets all copies: the configuration names other sources. */
export async function forgetCopies(tx: Transaction): Promise<void> {
  const copies = copiesIn(tx);
  for (const id of await copies.list()) await copies.delete(id);
}

function copiesIn(view: StorageView | Transaction): Collection<Kept> {
  return view.collection('issuer-copy/', Kept);
}
