import { To } from '../../parts/to.tsx';
import { sourceOf } from './associations.ts';
import classes from './plan-lines.module.css';
import type { PlanRow } from './plan-rows.ts';

interface PlanLinesProps {
  readonly rows: readonly PlanRow[];
  readonly type: string;
  readonly name: string;
}

/** A plan like a diff: sign, name outside, what differs, what a reconciliation does. */
export function PlanLines({ rows, type, name }: PlanLinesProps) {
  return (
    <div className={classes.box} role="region" aria-label="Differences" tabIndex={0}>
      <ul className={classes.lines}>
        {rows.map((row) => (
          <li key={`${row.list} ${row.remote_name} ${row.sub_key ?? ''}`} className={classes.line} data-sign={row.sign}>
            <span className={classes.sign} aria-hidden>
              {row.sign}
            </span>
            <span className={classes.name}>
              <code>{row.remote_name}</code>
              {row.mount !== undefined && (
                <small>
                  of{' '}
                  {sourceOf({
                    mount: row.mount,
                    secret_name: row.secret_name ?? '',
                    ...(row.sub_key === undefined ? {} : { sub_key: row.sub_key }),
                  })}
                </small>
              )}
            </span>
            <span className={classes.what}>
              {row.what}
              {row.list === 'foreign_edits' && row.remote_version !== undefined && <small>revision {row.remote_version}</small>}
            </span>
            <span className={classes.then} data-change={row.willChange}>
              {row.then}
              {(row.list === 'conflicts' || row.list === 'refused') && (
                <To to="/sync/$type/$name" params={{ type, name }}>
                  why
                </To>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
