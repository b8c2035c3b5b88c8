import { isCompacted } from './failure.ts';
import type { Span } from './layout.ts';
import type { Session } from './session.ts';
import { get, type KeyValue } from './wire.ts';

const PAGE = 1_000;
/** A page of large values takes time. */
const ATTEMPT_MS = 5_000;

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
  readonly keysOnly?: boolean | undefined;
}

/** Entries of one revision, page by page. @throws StorageFailure, and what gRPC throws, as where the revision was compacted meanwhile */
export async function* pagesAt(
  session: Session,
  { key, end }: Span,
  revision: number | undefined,
  query: PageQuery = {},
  size = PAGE,
): AsyncGenerator<{ readonly kvs: readonly KeyValue[]; readonly revision: number }> {
  let left = query.limit ?? Infinity;
  let [from, to, at] = [key, end, revision];
  for (;;) {
    const limit = Math.min(left, size);
    const operation = get(from, {
      range_end: to,
      limit,
      ...(at === undefined ? {} : { revision: at }),
      ...(query.reverse ? { sort_order: 'DESCEND' } : {}),
      ...(query.keysOnly ? { keys_only: true } : {}),
    });
    const { header, responses } = await session.read(() => [operation], ATTEMPT_MS);
    const { kvs = [], more = false } = responses[0]?.response_range ?? {};
    at ??= Number(header.revision);
    yield { kvs, revision: at };
    left -= kvs.length;
    const last = kvs.at(-1);
    if (!more || !last || left <= 0) return;
    if (query.reverse) to = last.key;
    else from = Buffer.concat([last.key, Buffer.from([0])]);
  }
}

/** Whether an attempt failed because its revision is no longer kept. */
export const isTooOld = isCompacted;
