import { Tooltip } from '@mantine/core';
import { useNow } from './use-now.ts';
import { distance } from './durations.ts';

/** A time as its distance from now, with the exact UTC on focus and under the pointer. */
export function When({ time }: { readonly time: string | number | Date | null | undefined }) {
  const now = useNow(1000);
  const at = time === null || time === undefined || time === '' ? Number.NaN : new Date(time).getTime();
  if (!Number.isFinite(at) || at <= 0) return <>never</>;
  const exact = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return (
    <Tooltip
      label={exact}
      events={{ hover: true, focus: true, touch: true }}
      portalProps={{ target: document.getElementById('page') ?? document.body }}
    >
      <time dateTime={new Date(at).toISOString()} tabIndex={0}>
        {distance(at - now)}
      </time>
    </Tooltip>
  );
}
