import { useEffect } from 'react';
import { useForeign } from '../api/own-routes.ts';
import { useSession } from '../app/session.ts';
import { goLive } from './live.ts';

/** While somebody is logged in, pages learn of changes as they happen. */
export function useLive(): void {
  const { token, holder, covered } = useSession();
  const accessor = holder?.accessor ?? '';
  // Calls of a counted token are the user's to spend.
  const counted = holder?.uses !== undefined && holder.uses > 0;
  const foreign = useForeign();
  const following = !foreign && token !== undefined && holder !== undefined && covered === undefined && !counted ? token : undefined;
  useEffect(() => (following === undefined ? undefined : goLive(following, accessor)), [following, accessor]);
}
