import { useNow } from '../../parts/use-now.ts';
import { distance, duration } from '../../parts/durations.ts';
import classes from './two-keys.module.css';

interface TwoKeysProps {
  /** When the key in use was made. */
  readonly last: string | null;
  /** Seconds between rotations; absent with a schedule. */
  readonly period: number | undefined;
  /** Seconds for which the previous key works on. */
  readonly grace: number;
}

/** The two keys that a user has while it is rotated: when each works, on one line of time. */
export function TwoKeys({ last, period, grace }: TwoKeysProps) {
  const now = useNow(30_000);
  if (last === null || !period) return null;
  const made = Date.parse(last);
  const next = made + period * 1000;
  const from = made - period * 250;
  const to = next + Math.max(grace, period / 4) * 1000;
  const at = (time: number): string => `${Math.min(100, Math.max(0, (100 * (time - from)) / (to - from)))}%`;
  const width = (begin: number, end: number): string => `${(100 * (end - begin)) / (to - from)}%`;
  const previousEnds = made + grace * 1000;
  const said =
    `The key in use was made ${distance(made - now)} and is replaced ${distance(next - now)}. ` +
    (grace === 0
      ? 'The previous key was deleted then.'
      : previousEnds > now
        ? `The previous key works ${duration((previousEnds - now) / 1000)} more.`
        : 'The previous key is deleted.');
  return (
    <figure className={classes.figure}>
      <div className={classes.line} role="img" aria-label={said}>
        <span className={classes.row}>
          <span className={classes.previous} style={{ left: 0, width: at(previousEnds) }}>
            previous
          </span>
        </span>
        <span className={classes.row}>
          <span className={classes.current} style={{ left: at(made), width: width(made, next + grace * 1000) }}>
            in use
          </span>
        </span>
        <span className={classes.row}>
          <span className={classes.next} style={{ left: at(next), width: width(next, to) }}>
            next
          </span>
        </span>
        <span className={classes.now} style={{ left: at(now) }} />
      </div>
      <figcaption>{said}</figcaption>
    </figure>
  );
}
