import type { Certificate } from '../x509/certificate.ts';
import type { NamedList } from './list-store.ts';

/** What the lists say of a certificate whose CA is known. */
export interface ListFinding {
  readonly revoked: boolean;
  /** Lists of this CA that have ended, where there is none in their place that has not. */
  readonly stale: readonly NamedList[];
}

/** Asks the lists that this CA has signed. A certificate in one of them is revoked, also if the list has ended. No list says nothing. */
export function listFinding(lists: readonly NamedList[], certificate: Certificate, authority: Certificate, now: number): ListFinding {
  const own = lists.filter(({ list }) => list.isOf(authority));
  const concerned = own.filter(({ list }) => list.speaksOf(certificate));
  const usable = concerned.filter(({ list, allowStale }) => allowStale || !list.isStale(now));
  const isReplaced = ({ list: ended }: NamedList): boolean => usable.some(({ list }) => list.scope === '' || list.scope === ended.scope);
  return {
    revoked: own.some(({ list }) => list.revokes(certificate.serial)),
    stale: concerned.filter((one) => !isReplaced(one)),
  };
}
