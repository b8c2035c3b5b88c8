import { useNow } from './use-now.ts';
import { When } from './when.tsx';

/** When something is done next: a time to come, or `now` where that has passed and it waits for its turn. */
export function Due({ time }: { readonly time: string }) {
  const now = useNow(1000);
  return new Date(time).getTime() <= now ? <>now</> : <When time={time} />;
}
